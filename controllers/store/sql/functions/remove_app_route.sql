create or replace function remove_app_route(in_lease text, in_epoch bigint, in_app text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from app_routes t where t.app = in_app;
end
$$;
