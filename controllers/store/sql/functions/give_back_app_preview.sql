-- The preview was refused, or never asked for.
create or replace function give_back_app_preview(in_app text) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  delete from app_previews p where p.app = in_app and p.ended_at is null and not has_come('App', in_app);
end;
