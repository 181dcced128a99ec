create or replace function remove_host_route(in_lease text, in_epoch bigint, in_host text, in_id text)
returns table (removed boolean)
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from host_routes r where r.host = in_host and r.id = in_id;
  return query select found;
end
$$;
