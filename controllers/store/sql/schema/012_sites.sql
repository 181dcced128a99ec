-- What sites need beside their resource and their facts. All of it is keyed by the site's name, which forget_site clears.

-- A place under the account's number of sites, taken before the resource is written.
create table site_places (
  site text primary key,
  account text not null,
  taken_at timestamptz(3) not null default now()
);
create index site_places_of_account on site_places (account);

-- The names of sites: a label below a base domain, or a full domain (which holds a dot). One site each, over all accounts.
-- A name that a request took before it wrote the spec is only reserved: it lapses, unless the controllers settle it.
create table site_names (
  name text primary key,
  site text not null,
  account text not null,
  reserved_until timestamptz(3)
);
create index site_names_of_site on site_names (site);

-- What was rendered, by what it was rendered from; kept for as long as the site, for any of it may have been approved.
create table site_renderings (
  site text not null,
  input text not null,
  digest text not null,
  neutral text not null,
  name text,
  hostname text,
  template text not null,
  manifest text not null,
  files integer not null,
  bytes bigint not null,
  warnings json not null,
  place bigint generated always as identity,
  rendered_at timestamptz(3) not null default now(),
  primary key (site, input)
);

-- Pictures as they were converted, by the sha256 of the bytes they came as, or the address they were taken from.
create table site_pictures (
  source text primary key,
  image json not null,
  taken_at timestamptz(3) not null default now()
);

-- The colours and fonts of an account.
create table site_brands (
  account text primary key,
  tokens jsonb not null,
  updated_at timestamptz(3) not null default now()
);

-- A place under the account's cap of publishes of one day (UTC): the same bytes of a site take one place for ever.
create table publish_places (
  site text not null,
  digest text not null,
  account text not null,
  day date not null,
  taken_at timestamptz(3) not null default now(),
  primary key (site, digest)
);
create index publish_places_of_day on publish_places (account, day);

-- Who is to be published, first come first served on each host. `place` is the order of arrival. `switched`: files and route
-- stand, so the next may go.
create table site_queue (
  site text primary key,
  place bigint generated always as identity,
  host text,
  digest text,
  stage text not null default 'waiting' check (stage in ('waiting', 'switched')),
  entered_at timestamptz(3) not null default now()
);
create index site_queue_of_host on site_queue (host, place);
