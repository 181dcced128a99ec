-- How a run ended, and what is told of it, once. What never began has left nothing on its host.
create or replace function end_app_run(
  in_lease text, in_epoch bigint, in_id text, in_ending json, in_event json, in_at timestamptz(3)
)
returns table (run json)
language plpgsql
as $$
declare
  done app_runs;
begin
  perform fence(in_lease, in_epoch);
  update app_runs r set
    state = in_ending ->> 'state', exit_code = (in_ending ->> 'exitCode')::integer, code = in_ending ->> 'code',
    message = in_ending ->> 'message', ended_at = in_at, sealed = null,
    dropped_at = case when r.state = 'queued' then in_at end
  where r.id = in_id and r.ended_at is null
  returning r.* into done;
  if not found then
    return;
  end if;
  if in_event is not null then
    perform tell_event(done.app, 'run:' || done.id, in_event, in_at);
  end if;
  return query select app_run_row(done);
end
$$;
