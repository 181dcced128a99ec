create function app_lock(in_app text) returns void
language sql volatile
return pg_advisory_xact_lock(hashtextextended('app/' || in_app, 0));

create function app_operation_row(in_operation app_operations) returns json
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
  )
);

create function app_release_row(in_release app_releases) returns json
language sql stable
return json_build_object(
  'number', in_release.number, 'id', in_release.id, 'operation', in_release.operation, 'state', in_release.state,
  'reason', in_release.reason, 'logTail', in_release.log_tail, 'restoredFrom', in_release.restored_from,
  'source', in_release.source, 'envVersion', in_release.env_version, 'record', in_release.record,
  'digest', in_release.digest, 'address', in_release.address, 'createdAt', iso_ms(in_release.created_at),
  'liveAt', iso_ms(in_release.live_at), 'supersededAt', iso_ms(in_release.superseded_at),
  'retiredAt', iso_ms(in_release.retired_at)
);

-- Enters what is asked, or finds it: the id is made from the Idempotency-Key. in_epoch null: by the API, which needs none.
create function ask_app_operation(
  in_lease text, in_epoch bigint, in_id text, in_app text, in_account text, in_kind text, in_intent jsonb,
  in_steps text[], in_at timestamptz
)
returns table (operation json)
language plpgsql
as $$
#variable_conflict use_column
begin
  if in_epoch is not null then
    perform fence(in_lease, in_epoch);
  end if;
  perform app_lock(in_app);
  insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at)
  select in_id, in_app, in_account, coalesce(max(o.n), 0) + 1, in_kind, in_intent, in_epoch is not null, 'queued', in_at
  from app_operations o where o.app = in_app
  on conflict (id) do nothing;
  insert into app_steps (operation, place, name, state)
  select in_id, s.place, s.name, 'pending' from unnest(in_steps) with ordinality as s(name, place)
  on conflict do nothing;
  return query select app_operation_row(o) from app_operations o where o.id = in_id and o.app = in_app;
end
$$;

-- Its turn has come: it gets a release of its own. Gives that number, again when it has begun before.
create function begin_app_operation(
  in_lease text, in_epoch bigint, in_id text, in_release text, in_source text, in_env_version integer,
  in_restored_from integer, in_at timestamptz
)
returns table (release integer)
language plpgsql
as $$
#variable_conflict use_column
declare
  mine app_operations;
begin
  perform fence(in_lease, in_epoch);
  select o.* into mine from app_operations o where o.id = in_id for update;
  if mine.state = 'queued' and mine.cancel_at is null then
    perform app_lock(mine.app);
    insert into app_releases (app, number, id, operation, state, restored_from, source, env_version, created_at)
    select mine.app, coalesce(max(r.number), 0) + 1, in_release, in_id, 'building', in_restored_from, in_source,
      in_env_version, in_at
    from app_releases r where r.app = mine.app
    returning number into mine.release;
    update app_operations o set state = 'running', started_at = in_at, release = mine.release where o.id = in_id;
    update app_steps s set state = 'running', started_at = in_at where s.operation = in_id and s.place = 1;
  end if;
  return query select o.release from app_operations o where o.id = in_id and o.release is not null;
end
$$;

-- A step of a running operation is done: the next one is the present one. in_known {record?, digest?, address?, state?} is
-- what was learned of the release. Gives whether it was the present step.
create function pass_app_step(
  in_lease text, in_epoch bigint, in_id text, in_step text, in_known jsonb, in_sealed bytea, in_message text,
  in_at timestamptz
)
returns table (passed boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  present app_steps;
begin
  perform fence(in_lease, in_epoch);
  select s.* into present
  from app_steps s join app_operations o on o.id = s.operation
  where s.operation = in_id and s.state = 'running' and s.name = in_step and o.state = 'running' for update of s;
  if not found then
    return query select false;
    return;
  end if;
  update app_steps s set state = 'succeeded', ended_at = in_at, message = in_message
  where s.operation = in_id and s.place = present.place;
  update app_steps s set state = 'running', started_at = in_at
  where s.operation = in_id and s.place = present.place + 1;
  update app_releases r set
    record = coalesce(r.record, '{}') || coalesce(in_known -> 'record', '{}'),
    digest = coalesce(in_known ->> 'digest', r.digest),
    address = coalesce(in_known ->> 'address', r.address),
    state = coalesce(in_known ->> 'state', r.state),
    sealed = coalesce(in_sealed, r.sealed)
  from app_operations o
  where o.id = in_id and r.app = o.app and r.number = o.release;
  return query select true;
end
$$;

-- From here on it cannot be cancelled. Gives false when somebody cancelled before.
create function claim_app_switch(in_lease text, in_epoch bigint, in_id text, in_at timestamptz)
returns table (claimed boolean)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  update app_operations o set switch_at = in_at
  where o.id = in_id and o.state = 'running' and o.cancel_at is null and o.switch_at is null;
  return query select o.switch_at is not null from app_operations o where o.id = in_id;
end
$$;

-- The visitors are on the new release. in_event {type, data}.
create function app_goes_live(in_lease text, in_epoch bigint, in_id text, in_at timestamptz, in_event json)
returns table (done boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  mine app_operations;
begin
  perform fence(in_lease, in_epoch);
  update app_operations o set state = 'succeeded', ended_at = in_at
  where o.id = in_id and o.state = 'running' and o.switch_at is not null
  returning o.* into mine;
  if not found then
    return query select false;
    return;
  end if;
  update app_steps s set state = 'succeeded', ended_at = in_at where s.operation = in_id and s.state = 'running';
  update app_releases r set state = 'superseded', superseded_at = in_at where r.app = mine.app and r.state = 'live';
  update app_releases r set state = 'live', live_at = in_at where r.app = mine.app and r.number = mine.release;
  perform tell_event(mine.app, 'operation:' || in_id, in_event, in_at);
  return query select true;
end
$$;

-- It ended without a switch. The release that it began, if any, has failed.
create function end_app_operation(
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

-- 'asked' (or was before), 'ended', 'too_late'; nothing for one that is not there.
create function cancel_app_operation(in_id text, in_account text, in_at timestamptz) returns table (outcome text)
language plpgsql
as $$
#variable_conflict use_column
begin
  update app_operations o set cancel_at = in_at
  where o.id = in_id and o.account = in_account and o.state in ('queued', 'running') and o.switch_at is null
    and o.cancel_at is null;
  return query
  select case
    when o.state = 'cancelled' then 'asked'
    when o.switch_at is not null then 'too_late'
    when o.ended_at is not null then 'ended'
    else 'asked'
  end
  from app_operations o where o.id = in_id and o.account = in_account;
end
$$;

create function retire_app_release(in_lease text, in_epoch bigint, in_app text, in_number integer, in_at timestamptz)
returns table (retired boolean)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  return query
  update app_releases r set retired_at = in_at
  where r.app = in_app and r.number = in_number and r.retired_at is null and r.state in ('failed', 'superseded')
  returning true;
end
$$;

create function set_app_route(in_lease text, in_epoch bigint, in_app text, in_digest text, in_address text)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into app_routes (app, digest, address) values (in_app, in_digest, in_address)
  on conflict (app) do update set digest = excluded.digest, address = excluded.address;
  -- Where the live release listens is what the route says.
  update app_releases r set address = in_address where r.app = in_app and r.state = 'live' and r.address <> in_address;
end
$$;

create function remove_app_route(in_lease text, in_epoch bigint, in_app text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from app_routes t where t.app = in_app;
end
$$;

-- The app is gone from its host. in_keeps: its volumes are still there, so its name stays its account's.
create function forget_app(in_lease text, in_epoch bigint, in_app text, in_keeps boolean) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  if in_keeps then
    update app_slugs s set app = null where s.app = in_app;
  else
    delete from app_slugs s where s.app = in_app;
  end if;
  delete from app_operations o where o.app = in_app;
  delete from app_releases r where r.app = in_app;
  delete from app_env e where e.app = in_app;
  delete from app_passwords p where p.app = in_app;
  delete from app_routes t where t.app = in_app;
  delete from app_log_chunks c using app_log_requests l where l.id = c.request and l.app = in_app;
  delete from app_log_requests l where l.app = in_app;
end
$$;

-- What a pass over an app reads of the database, in one round trip. Of the past the newest in_limit are told, and whatever
-- is still open.
create function observe_app(in_app text, in_host text, in_slug text, in_now timestamptz, in_limit integer)
returns table (
  slug_holder text, operations json, releases json, env json, password_version integer, route json, logs json
)
language plpgsql stable
as $$
begin
  return query
  select
    (select s.app from app_slugs s where s.host = in_host and s.slug = in_slug),
    (
      select coalesce(json_agg(app_operation_row(p) order by p.n), '[]')
      from (
        select o.* from app_operations o where o.app = in_app and o.ended_at is null
        union
        (select o.* from app_operations o where o.app = in_app and o.ended_at is not null order by o.n desc limit in_limit)
        union
        -- What the resource asked for last, however many of the other sort came after.
        (
          select o.* from app_operations o
          where o.app = in_app and o.ended_at is not null and o.kind <> 'env' order by o.n desc limit 1
        )
        union
        (
          select o.* from app_operations o
          where o.app = in_app and o.ended_at is not null and o.kind <> 'rollback' order by o.n desc limit 1
        )
      ) p
    ),
    (
      select coalesce(json_agg(app_release_row(p) order by p.number desc), '[]')
      from (
        select r.* from app_releases r where r.app = in_app and (r.state = 'live' or r.retired_at is null)
        union
        (select r.* from app_releases r where r.app = in_app order by r.number desc limit in_limit)
      ) p
    ),
    (
      select json_build_object('version', e.version, 'keys', e.keys)
      from app_env e where e.app = in_app order by e.version desc limit 1
    ),
    (select max(p.version) from app_passwords p where p.app = in_app),
    (select json_build_object('digest', t.digest, 'address', t.address) from app_routes t where t.app = in_app),
    (
      select coalesce(json_agg(json_build_object(
        'id', l.id, 'tail', l.tail, 'follow', l.follow, 'since', l.since, 'fetchedAt', iso_ms(l.fetched_at)
      )), '[]')
      from app_log_requests l where l.app = in_app and not l.ended and l.wanted_until > in_now
    );
end
$$;
