-- Nothing of the app is left on a host that it has left.
create or replace function drop_app_place(in_lease text, in_epoch bigint, in_app text, in_host text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from app_rooms m
  where m.app = in_app and m.host = in_host
    and exists (select from app_slugs s where s.app = in_app and s.host = in_host and s.place = 'left');
  delete from app_slugs s where s.app = in_app and s.host = in_host and s.place = 'left';
end
$$;
