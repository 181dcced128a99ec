-- It ended without a switch. The release that it began, if any, has failed.
create or replace function end_app_operation(
  in_lease text, in_epoch bigint, in_id text, in_state text, in_code text, in_message text, in_log_tail text,
  in_at timestamptz, in_event json
)
returns table (done boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  mine app_operations;
begin
  perform fence(in_lease, in_epoch);
  update app_operations o set state = in_state, ended_at = in_at, code = in_code, message = in_message
  where o.id = in_id and o.state in ('queued', 'running')
  returning o.* into mine;
  if not found then
    return query select false;
    return;
  end if;
  update app_steps s set state = case when in_state = 'succeeded' then 'succeeded' else 'failed' end, ended_at = in_at,
    message = left(in_message, 1000)
  where s.operation = in_id and s.state = 'running';
  update app_steps s set state = 'skipped' where s.operation = in_id and s.state = 'pending';
  update app_releases r set state = 'failed', reason = in_message, log_tail = in_log_tail, superseded_at = in_at
  where r.app = mine.app and r.number = mine.release and r.state <> 'live';
  if in_event is not null then
    perform tell_event(mine.app, 'operation:' || in_id, in_event, in_at);
  end if;
  return query select true;
end
$$;
