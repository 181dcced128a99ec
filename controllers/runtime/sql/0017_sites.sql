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

create function account_lock(in_what text, in_account text) returns void
language sql
begin atomic
  select pg_advisory_xact_lock(hashtextextended(in_what || '/' || in_account, 0));
end;

-- 'taken', 'held' (it was before), 'refused'. Places of sites that never came lapse.
create function take_site_place(in_site text, in_account text, in_limit integer) returns text
language plpgsql
as $$
begin
  if exists (select from site_places p where p.site = in_site) then
    return 'held';
  end if;
  perform account_lock('site_places', in_account);
  delete from site_places p
  where p.account = in_account and p.taken_at < now() - interval '10 minutes'
    and not exists (select from mirror m where m.kind = 'Site' and m.name = p.site);
  if (select count(*) from site_places p where p.account = in_account) >= in_limit then
    return 'refused';
  end if;
  insert into site_places (site, account) values (in_site, in_account) on conflict do nothing;
  return 'taken';
end
$$;

-- The request was refused: its place is free again, unless the site is there after all.
create function give_back_site_place(in_site text) returns boolean
language sql volatile
begin atomic
  with freed as (
    delete from site_places p
    where p.site = in_site and not exists (select from mirror m where m.kind = 'Site' and m.name = in_site)
    returning 1
  )
  select exists (select from freed);
end;

-- Reserves a name, or settles it for good (in_settle): 'taken', 'held', 'refused'. One statement decides: the key does.
create function claim_site_name(in_name text, in_site text, in_account text, in_settle boolean) returns text
language plpgsql
as $$
declare
  until timestamptz := case when in_settle then null else now() + interval '2 minutes' end;
  held record;
begin
  insert into site_names (name, site, account, reserved_until) values (in_name, in_site, in_account, until)
  on conflict do nothing;
  if found then
    return 'taken';
  end if;
  select * into held from site_names n where n.name = in_name for update;
  if held is null then
    return claim_site_name(in_name, in_site, in_account, in_settle);
  end if;
  if held.site <> in_site and (held.reserved_until is null or held.reserved_until > now()) then
    return 'refused';
  end if;
  update site_names n
  set site = in_site, account = in_account,
    reserved_until = case when held.site = in_site and held.reserved_until is null then null else until end
  where n.name = in_name;
  return case when held.site = in_site then 'held' else 'taken' end;
end
$$;

-- Names that are settled and no longer needed.
create function release_site_names(in_lease text, in_epoch bigint, in_site text, in_keep text[]) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_names n
  where n.site = in_site and n.name <> all (in_keep) and (n.reserved_until is null or n.reserved_until <= now());
end
$$;

create function put_site_rendering(in_lease text, in_epoch bigint, in_rendering json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_renderings (site, input, digest, neutral, name, hostname, template, manifest, files, bytes, warnings)
  select r.site, r.input, r.digest, r.neutral, r.name, r.hostname, r.template, r.manifest, r.files, r.bytes, r.warnings
  from json_to_record(in_rendering) as r(
    site text, input text, digest text, neutral text, name text, hostname text, template text, manifest text,
    files integer, bytes bigint, warnings json
  )
  on conflict do nothing;
end
$$;

create function put_site_picture(in_lease text, in_epoch bigint, in_source text, in_image json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_pictures (source, image) values (in_source, in_image) on conflict do nothing;
end
$$;

-- 'taken', 'held', 'refused', as for sends. Nobody else's publish of the account is counted meanwhile.
create function take_publish_place(in_site text, in_digest text, in_account text, in_day date, in_limit integer)
returns text
language plpgsql
as $$
begin
  if exists (select from publish_places p where p.site = in_site and p.digest = in_digest) then
    return 'held';
  end if;
  perform account_lock('publish_places', in_account);
  if (select count(*) from publish_places p where p.account = in_account and p.day = in_day) >= in_limit then
    return 'refused';
  end if;
  insert into publish_places (site, digest, account, day) values (in_site, in_digest, in_account, in_day)
  on conflict do nothing;
  return 'taken';
end
$$;

-- Arrives in the queue, or stays where it is. Without a lease (the API): only when it is not there yet.
create function arrive_in_site_queue(in_site text) returns void
language sql
begin atomic
  insert into site_queue (site) values (in_site) on conflict do nothing;
end;

-- Waits on a host to bring these bytes, or has brought them. Other bytes than before keep the place while it waits; after a
-- switch they come last.
create function move_site_queue(in_lease text, in_epoch bigint, in_site text, in_host text, in_digest text, in_stage text)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  if in_stage = 'waiting' then
    delete from site_queue q where q.site = in_site and q.stage = 'switched';
  end if;
  insert into site_queue (site, host, digest, stage) values (in_site, in_host, in_digest, in_stage)
  on conflict (site) do update set host = excluded.host, digest = excluded.digest, stage = excluded.stage;
end
$$;

create function leave_site_queue(in_lease text, in_epoch bigint, in_site text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_queue q where q.site = in_site;
end
$$;

-- All that a pass over sites reads, one row per site.
create function observe_sites(in_sites text[], in_accounts text[])
returns table (
  site text, facts json, renderings json, names json, has_place boolean, places json, turn json, brand jsonb
)
language plpgsql stable
as $$
begin
  return query
  select k.site, o.facts,
    (
      select json_agg(json_build_object(
        'input', r.input, 'digest', r.digest, 'neutral', r.neutral, 'name', r.name, 'hostname', r.hostname,
        'template', r.template, 'manifest', r.manifest, 'files', r.files, 'bytes', r.bytes, 'warnings', r.warnings,
        'at', iso_ms(r.rendered_at)
      ) order by r.place)
      from site_renderings r where r.site = k.site
    ),
    (
      select json_agg(json_build_object('name', n.name, 'settled', n.reserved_until is null) order by n.name)
      from site_names n where n.site = k.site
    ),
    exists (select from site_places p where p.site = k.site),
    (select json_agg(p.digest order by p.taken_at) from publish_places p where p.site = k.site),
    (
      select json_build_object(
        'host', q.host, 'digest', q.digest, 'stage', q.stage, 'since', iso_ms(q.entered_at),
        'place', 1 + (
          select count(*) from site_queue e where e.host = q.host and e.stage = 'waiting' and e.place < q.place
        )
      )
      from site_queue q where q.site = k.site
    ),
    (select b.tokens from site_brands b where b.account = k.account)
  from observe_resources(in_sites) o
  join unnest(in_sites, in_accounts) as k(site, account) on k.site = o.resource;
end
$$;

-- The site is gone: its names and its place are free. What was converted from the same pictures serves others.
create function forget_site(in_lease text, in_epoch bigint, in_site text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_queue q where q.site = in_site;
  delete from site_names n where n.site = in_site;
  delete from site_renderings r where r.site = in_site;
  delete from site_places p where p.site = in_site;
end
$$;
