-- Who visited sites, counted from what the proxies of hosts write down (rules/site.md#visits). No address, no name of a person, nothing
-- that was asked for behind a question mark.

-- How far each file of a host was counted. `file` is its inode and a sum of its first bytes.
create table visit_places (
  host text not null,
  file text not null,
  place bigint not null check (place >= 0),
  read_at timestamptz(3) not null default now(),
  primary key (host, file)
);

create table site_days (
  site text not null,
  day date not null,
  visits bigint not null default 0,
  robots bigint not null default 0,
  visitors integer not null default 0,
  primary key (site, day)
);
create index site_days_of_day on site_days (day);

-- Pages and referrers, those that are looked at most; '' stands for all others.
create table site_day_names (
  site text not null,
  day date not null,
  sort text not null check (sort in ('page', 'referrer')),
  name text not null,
  visits bigint not null,
  primary key (site, day, sort, name)
);
create index site_day_names_of_day on site_day_names (day);

-- Whom a day has seen already: 32 bits under a salt that was thrown away. Kept for some days, for what is read late.
create table site_visitors (
  site text not null,
  day date not null,
  visitor text not null check (visitor ~ '^[0-9a-f]{8}$'),
  primary key (site, day, visitor)
);
create index site_visitors_of_day on site_visitors (day);
