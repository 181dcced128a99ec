-- Stores a route; gives whether anything differed. A hostname of another route of the host is refused by its key, and a route of a
-- site or an app under a name that is not proven to be its account's here: what has a route gets a certificate.
create or replace function put_host_route(
  in_lease text, in_epoch bigint, in_host text, in_id text, in_owner text, in_hostnames text[], in_handle jsonb
)
returns table (changed boolean)
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  if in_owner like 'Site/%' and exists (
    select from unnest(in_hostnames) as u(hostname)
    where not exists (
      select from site_names n
      where n.site = substr(in_owner, 6) and n.state in ('verified', 'missing') and n.reserved_until is null
        and is_name_of(n.name, u.hostname)
    )
  ) then
    raise exception '% is not proven to be the site''s, and gets no route', in_hostnames using errcode = 'P0001';
  end if;
  -- The first of an app is its own below the host's base domain; its others are names of its account.
  if in_owner like 'App/%' and exists (
    select from unnest(in_hostnames) with ordinality as u(hostname, place)
    where u.place > 1 and not exists (
      select from site_names n
      where n.site = in_owner and n.name = u.hostname and n.state in ('verified', 'missing') and n.reserved_until is null
    )
  ) then
    raise exception '% is not proven to be the app''s, and gets no route', in_hostnames using errcode = 'P0001';
  end if;
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
