-- Writes what was decided of an operation, all or nothing: it with its steps, the releases that change, the event. Decided
-- on in_rev; whoever comes with an older one looks again. in_epoch null: by the API, which enters operations and asks them
-- to stop, and no more.
--   in_operation  as app_operation_row gives it
--   in_releases   [] as app_release_row gives them; what steps back comes before what takes its place
--   in_sealed     the whole of the operation's own release, or null: it stays
--   in_event      as for tell_event, or null
create or replace function store_app_outcome(
  in_lease text, in_epoch bigint, in_app text, in_rev bigint, in_operation json, in_releases json, in_sealed bytea,
  in_event json, in_at timestamptz(3)
)
returns table (stored boolean)
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  stored := false;
  if in_epoch is not null then
    perform fence(in_lease, in_epoch);
  end if;
  if in_rev = 0 then
    insert into app_revisions (app, rev) values (in_app, 0) on conflict do nothing;
  end if;
  update app_revisions v set rev = v.rev + 1 where v.app = in_app and v.rev = in_rev;
  if not found then
    return next;
    return;
  end if;

  if in_epoch is null and (json_array_length(in_releases) > 0 or in_event is not null or not exists (
    select from json_to_record(in_operation) as g(id text, state text, "switchAt" timestamptz(3))
    left join app_operations o on o.id = g.id
    where g.state = coalesce(o.state, 'queued') and g."switchAt" is not distinct from o.switch_at
  )) then
    raise exception 'what becomes of an operation needs an epoch' using errcode = 'BT001';
  end if;

  insert into app_operations as o (
    id, app, account, n, kind, intent, by_controller, state, release, code, message, created_at, started_at, ended_at,
    cancel_at, switch_at, commands
  )
  select g.id, g.app, g.account, g.n, g.kind, g.intent, in_epoch is not null, g.state, g.release, g.code, g.message,
    g."createdAt", g."startedAt", g."endedAt", g."cancelAt", g."switchAt", nullif(g.commands, 'null'::jsonb)
  from json_to_record(in_operation) as g(
    id text, app text, account text, n integer, kind text, intent jsonb, state text,
    release integer, code text, message text, "createdAt" timestamptz(3), "startedAt" timestamptz(3),
    "endedAt" timestamptz(3), "cancelAt" timestamptz(3), "switchAt" timestamptz(3), commands jsonb
  )
  on conflict (id) do update set
    state = excluded.state, release = excluded.release, code = excluded.code, message = excluded.message,
    started_at = excluded.started_at, ended_at = excluded.ended_at, cancel_at = excluded.cancel_at,
    switch_at = excluded.switch_at, commands = excluded.commands
  where o.app = excluded.app;
  -- Another app was asked under the same id in between.
  if not found then
    return next;
    return;
  end if;

  insert into app_steps as s (operation, place, name, state, started_at, ended_at, message)
  select in_operation ->> 'id', g.place, g.name, g.state, g.started_at, g.ended_at, g.message
  from rows from (
    json_to_recordset(in_operation -> 'steps') as (
      name text, state text, "startedAt" timestamptz(3), "endedAt" timestamptz(3), message text
    )
  ) with ordinality as g(name, state, started_at, ended_at, message, place)
  on conflict (operation, place) do update set
    name = excluded.name, state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at,
    message = excluded.message
  where (s.name, s.state) <> (excluded.name, excluded.state);

  if json_array_length(in_releases) > 0 then
    insert into app_releases as r (
      app, number, id, operation, state, reason, log_tail, restored_from, source, env_version, record, sealed, digest,
      address, created_at, live_at, superseded_at, retired_at
    )
    select in_app, g.number, g.id, g.operation, g.state, g.reason, g.log_tail, g.restored_from, g.source, g.env_version,
      g.record, case when g.operation = in_operation ->> 'id' then in_sealed end, g.digest, g.address, g.created_at,
      g.live_at, g.superseded_at, g.retired_at
    from rows from (
      json_to_recordset(in_releases) as (
        number integer, id text, operation text, state text, reason text, "logTail" text, "restoredFrom" integer,
        source text, "envVersion" integer, record jsonb, digest text, address text, "createdAt" timestamptz(3),
        "liveAt" timestamptz(3), "supersededAt" timestamptz(3), "retiredAt" timestamptz(3)
      )
    ) with ordinality as g(
      number, id, operation, state, reason, log_tail, restored_from, source, env_version, record, digest, address,
      created_at, live_at, superseded_at, retired_at, place
    )
    order by g.place
    on conflict (app, number) do update set
      state = excluded.state, reason = excluded.reason, log_tail = excluded.log_tail, record = excluded.record,
      sealed = coalesce(excluded.sealed, r.sealed), digest = excluded.digest, address = excluded.address,
      live_at = excluded.live_at, superseded_at = excluded.superseded_at, retired_at = excluded.retired_at;
  end if;

  if in_operation ->> 'kind' = 'move' and in_operation ->> 'endedAt' is not null then
    perform settle_app_move(in_app, in_operation, in_at);
  end if;

  if in_event is not null then
    -- An operation that had ended well before it failed has been told of once already.
    perform tell_event(
      in_app,
      case when in_operation ->> 'state' = 'failed' and in_operation ->> 'switchAt' is not null then 'returned:' else 'operation:' end
        || (in_operation ->> 'id'),
      in_event, in_at
    );
  end if;
  stored := true;
  return next;
end
$$;
