create or replace function app_operation_row(in_operation app_operations) returns json
language sql stable
return json_build_object(
  'id', in_operation.id, 'app', in_operation.app, 'account', in_operation.account, 'n', in_operation.n,
  'kind', in_operation.kind, 'intent', in_operation.intent, 'byController', in_operation.by_controller,
  'state', in_operation.state, 'release', in_operation.release, 'code', in_operation.code,
  'message', in_operation.message, 'createdAt', iso_ms(in_operation.created_at),
  'startedAt', iso_ms(in_operation.started_at), 'endedAt', iso_ms(in_operation.ended_at),
  'cancelAt', iso_ms(in_operation.cancel_at), 'switchAt', iso_ms(in_operation.switch_at),
  'steps', (
    select coalesce(json_agg(json_build_object(
      'name', s.name, 'state', s.state, 'startedAt', iso_ms(s.started_at), 'endedAt', iso_ms(s.ended_at),
      'message', s.message
    ) order by s.place), '[]')
    from app_steps s where s.operation = in_operation.id
  ),
  'commands', in_operation.commands,
  'runs', (
    select coalesce(json_agg(json_build_object(
      'id', r.id, 'cause', r.cause, 'attempt', r.attempt, 'state', r.state, 'message', r.message,
      'startedAt', iso_ms(r.started_at), 'endedAt', iso_ms(r.ended_at)
    ) order by r.created_at, r.attempt), '[]')
    from app_runs r where r.operation = in_operation.id
  )
);
