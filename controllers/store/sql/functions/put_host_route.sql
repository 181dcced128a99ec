-- Stores a route; gives whether anything differed. A hostname of another route of the host is refused by its key.
create or replace function put_host_route(
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
