-- Enters a run as queued, or finds it under its id. in_epoch null: by the API, for somebody who asked; at most in_open of these
-- wait or run in an app. One that fell due is entered once for its instant; what is skipped has ended with that.
--   in_run   as app_run_row gives it, with skipped {code, message} or null
--   in_kept  of those that have ended as many are remembered, for each schedule and each other cause
create or replace function ask_app_run(
  in_lease text, in_epoch bigint, in_run json, in_sealed bytea, in_open integer, in_kept integer, in_at timestamptz(3)
)
returns table (outcome text, run json)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  held app_runs;
  given record;
begin
  if in_epoch is not null then
    perform fence(in_lease, in_epoch);
  elsif in_run ->> 'cause' <> 'asked' or (in_run -> 'skipped') ->> 'code' is not null then
    raise exception 'what nobody asked for needs an epoch' using errcode = 'BT001';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('app runs/' || (in_run ->> 'app'), 0));
  select r.* into held from app_runs r where r.id = in_run ->> 'id';
  if found then
    return query select case when held.app = in_run ->> 'app' then 'held' else 'mismatch' end, app_run_row(held);
    return;
  end if;
  if in_epoch is null and in_open <= (
    select count(*) from app_runs r where r.app = in_run ->> 'app' and r.cause = 'asked' and r.ended_at is null
  ) then
    return query select 'full', null::json;
    return;
  end if;

  select g.* into given from json_to_record(in_run) as g(
    id text, app text, account text, cause text, service text, command jsonb, "timeoutSeconds" integer,
    repeatable boolean, "envKeys" jsonb, operation text, attempt integer, schedule text, "dueAt" timestamptz(3),
    release integer, skipped json
  );
  insert into app_runs (
    id, app, account, cause, service, command, timeout_seconds, repeatable, env_keys, sealed, operation, attempt, schedule,
    due_at, release, state, code, message, created_at, ended_at, dropped_at
  )
  values (
    given.id, given.app, given.account, given.cause, given.service, given.command, given."timeoutSeconds", given.repeatable,
    array(select jsonb_array_elements_text(given."envKeys")), in_sealed, given.operation, given.attempt, given.schedule,
    given."dueAt", given.release,
    case when given.skipped ->> 'code' is null then 'queued' else 'skipped' end,
    given.skipped ->> 'code', given.skipped ->> 'message', in_at,
    case when given.skipped ->> 'code' is not null then in_at end,
    case when given.skipped ->> 'code' is not null then in_at end
  )
  on conflict (app, schedule, due_at) do nothing;
  update app_schedules s set last_at = given."dueAt"
  where s.app = given.app and s.name = given.schedule and (s.last_at is null or s.last_at < given."dueAt");

  delete from app_runs r
  using (
    select o.id, row_number() over (partition by o.cause, o.schedule order by o.created_at desc, o.id) as place
    from app_runs o where o.app = given.app and o.dropped_at is not null
  ) old
  where r.id = old.id and old.place > in_kept
    and not exists (select from app_operations p where p.id = r.operation and p.ended_at is null)
    -- that it was run is what keeps it from being run again
    and not exists (select from app_releases l where l.operation = r.operation and l.state = 'live');
  return query
  select 'asked', app_run_row(r) from app_runs r
  where r.id = given.id or (r.app = given.app and r.schedule = given.schedule and r.due_at = given."dueAt");
end
$$;
