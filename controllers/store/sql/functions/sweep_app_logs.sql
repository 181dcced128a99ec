-- What is kept of logs no longer: after 30 days, what apps used after 7, and what was read for those who never came back.
create or replace function sweep_app_logs(in_lease text, in_epoch bigint, in_now timestamptz) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from app_kept_lines k using app_kept_logs l
  where l.app = k.app and l.release = k.release and l.at < in_now - interval '30 days';
  delete from app_kept_logs l where l.at < in_now - interval '30 days';
  delete from app_minutes m where m.at < in_now - interval '7 days';
  delete from app_log_chunks c using app_log_requests l where l.id = c.request and l.wanted_until < in_now - interval '5 minutes';
  delete from app_log_requests l where l.wanted_until < in_now - interval '5 minutes';
end
$$;
