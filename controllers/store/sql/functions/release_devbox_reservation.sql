-- The resource was refused: what was reserved for it is free again, unless the controllers have seen it.
create or replace function release_devbox_reservation(in_resource text) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  delete from devboxes d where d.resource = in_resource and d.box is null and d.deleted_at is null;
end;
