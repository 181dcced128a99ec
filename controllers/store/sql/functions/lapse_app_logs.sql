-- Wishes that nobody renewed, with what was fetched for them.
create or replace function lapse_app_logs(in_app text) returns void
language sql volatile
begin atomic
  with lapsed as (
    delete from app_log_requests l where l.app = in_app and l.wanted_until < now() - interval '5 minutes'
    returning l.id
  )
  delete from app_log_chunks c using lapsed where c.request = lapsed.id;
end;
