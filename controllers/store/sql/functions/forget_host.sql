-- The host is gone: its keys and its routes with it.
create or replace function forget_host(in_lease text, in_epoch bigint, in_host text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from host_routes r where r.host = in_host;
  delete from visit_places p where p.host = in_host;
  delete from host_credentials c where c.host = in_host;
end
$$;
