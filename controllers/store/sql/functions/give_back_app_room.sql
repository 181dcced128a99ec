-- The app was refused, or never asked for.
create or replace function give_back_app_room(in_app text) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  delete from app_rooms r where r.app = in_app and not has_come('App', in_app);
end;
