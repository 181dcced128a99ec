-- Private keys to log in to hosts with, sealed. A row is written before the host's spec names its version.
create table host_credentials (
  host text not null check (host <> ''),
  version integer not null check (version > 0),
  sealed bytea not null,
  written_at timestamptz(3) not null default now(),
  primary key (host, version)
);

-- What each host's proxy is to serve. The proxy may lose all of it and gets it back from here.
create table host_routes (
  host text not null,
  id text not null check (id ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
  owner text not null,
  hostnames text[] not null check (cardinality(hostnames) between 1 and 100),
  handle jsonb not null,
  primary key (host, id)
);

-- One route per hostname of a host.
create table host_names (
  host text not null,
  hostname text not null check (hostname = lower(hostname)),
  id text not null,
  primary key (host, hostname),
  foreign key (host, id) references host_routes (host, id) on delete cascade
);
create index host_names_of_route on host_names (host, id);

-- A key for a host that is there or is about to be. Keys whose host never came are gone after a day.
create function put_host_credential(in_host text, in_version integer, in_sealed bytea) returns void
language sql volatile
begin atomic
  delete from host_credentials c
  where c.written_at < now() - interval '1 day' and c.host <> in_host
    and not exists (select from mirror m where m.kind = 'Host' and m.name = c.host);
  insert into host_credentials (host, version, sealed) values (in_host, in_version, in_sealed)
  on conflict (host, version) do update set sealed = excluded.sealed, written_at = now();
end;

-- Stores a route; gives whether anything differed. A hostname of another route of the host is refused by its key.
create function put_host_route(
  in_lease text, in_epoch bigint, in_host text, in_id text, in_owner text, in_hostnames text[], in_handle jsonb
)
returns table (changed boolean)
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into host_routes as r (host, id, owner, hostnames, handle)
  values (in_host, in_id, in_owner, in_hostnames, in_handle)
  on conflict (host, id) do update
    set owner = excluded.owner, hostnames = excluded.hostnames, handle = excluded.handle
    where (r.owner, r.hostnames, r.handle) is distinct from (excluded.owner, excluded.hostnames, excluded.handle);
  if not found then
    return query select false;
    return;
  end if;
  delete from host_names n where n.host = in_host and n.id = in_id and n.hostname <> all (in_hostnames);
  insert into host_names as n (host, hostname, id)
  select in_host, name, in_id from unnest(in_hostnames) as u(name)
  where not exists (select from host_names o where o.host = in_host and o.hostname = u.name and o.id = in_id);
  return query select true;
end
$$;

create function remove_host_route(in_lease text, in_epoch bigint, in_host text, in_id text)
returns table (removed boolean)
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from host_routes r where r.host = in_host and r.id = in_id;
  return query select found;
end
$$;

-- The host is gone: its keys and its routes with it.
create function forget_host(in_lease text, in_epoch bigint, in_host text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from host_routes r where r.host = in_host;
  delete from host_credentials c where c.host = in_host;
end
$$;
