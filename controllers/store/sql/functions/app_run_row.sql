create or replace function app_run_row(in_run app_runs) returns json
language sql stable
return json_build_object(
  'id', in_run.id, 'app', in_run.app, 'account', in_run.account, 'cause', in_run.cause, 'service', in_run.service,
  'command', in_run.command, 'timeoutSeconds', in_run.timeout_seconds, 'repeatable', in_run.repeatable,
  'envKeys', in_run.env_keys, 'operation', in_run.operation, 'attempt', in_run.attempt, 'schedule', in_run.schedule,
  'dueAt', iso_ms(in_run.due_at), 'release', in_run.release, 'state', in_run.state, 'exitCode', in_run.exit_code,
  'code', in_run.code, 'message', in_run.message, 'taken', in_run.taken, 'lost', in_run.lost,
  'outputFirst', in_run.output_first, 'outputNext', in_run.output_next, 'createdAt', iso_ms(in_run.created_at),
  'startedAt', iso_ms(in_run.started_at), 'endedAt', iso_ms(in_run.ended_at), 'cancelAt', iso_ms(in_run.cancel_at),
  'fetchedAt', iso_ms(in_run.fetched_at), 'droppedAt', iso_ms(in_run.dropped_at),
  'tail', (
    select right(string_agg(o.content, '' order by o.start), 4000) from app_run_output o
    where o.run = in_run.id and o.start + octet_length(o.content) > in_run.output_next - 16000
  )
);
