-- Who is told of what, what was told, and how each delivery went (spec/1 Webhook endpoint, Events; CONTRACT section 10).

create table webhook_endpoints (
  id text primary key,
  account text not null,
  url text not null,
  -- Names of events, `*` or `<object>.*`; sorted, each once.
  events text[] not null check (cardinality(events) > 0),
  -- Of url and events: the same again is the same endpoint.
  fingerprint text not null,
  -- Sealed; the previous one signs as well until previous_until.
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz(3),
  disabled_at timestamptz(3),
  disabled_reason text,
  -- Since when no delivery has succeeded; null while they do.
  failing_since timestamptz(3),
  last_error text,
  -- Raised by every change that a sender has to know of.
  version bigint not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (account, fingerprint),
  check ((previous_secret is null) = (previous_until is null)),
  check ((disabled_at is null) = (disabled_reason is null))
);

-- The last sequence of each account.
create table event_heads (
  account text primary key,
  last bigint not null check (last > 0)
);

-- What was told, in the order in which it can be read: who has seen one sequence has seen all before it.
create table events (
  account text not null,
  sequence bigint not null,
  id text not null unique,
  type text not null,
  -- The resource, and the place of this among all that was told of it, from 1.
  object text not null,
  object_sequence bigint not null,
  test boolean not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  primary key (account, sequence),
  unique (object, object_sequence)
);
create trigger events_are_never_changed before update on events for each row execute function refuse_change();
create trigger events_are_never_emptied before truncate on events for each statement execute function refuse_change();

-- One row per attempt. The one that is still to come, or under way, is pending. Each is written from the row of its event,
-- which is never deleted; to have that checked again for every row would cost a third of spreading.
create table deliveries (
  id bigint generated always as identity primary key,
  endpoint text not null references webhook_endpoints on delete cascade,
  account text not null,
  sequence bigint not null,
  attempt integer not null check (attempt > 0),
  -- No further one follows it: a ping, the last of the schedule.
  is_last boolean not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'dead', 'refused')),
  due_at timestamptz(3),
  lease_until timestamptz(3),
  epoch bigint,
  -- Times it was begun. More than one: the outcome of the others is not known.
  begun integer not null default 0,
  status integer,
  latency_ms integer,
  fault text,
  response text,
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  check ((state = 'pending') = (due_at is not null))
) with (fillfactor = 70);
-- First attempts and repeats wait apart: repeats are let out at a rate, and hold up no news.
create index deliveries_first on deliveries (endpoint, due_at, id) where state = 'pending' and attempt = 1;
create index deliveries_again on deliveries (endpoint, due_at, id) where state = 'pending' and attempt > 1;
create index deliveries_log on deliveries (endpoint, id desc);
create index deliveries_of_event on deliveries (account, sequence);

-- Whether an endpoint that asked for these is told of this one.
create function is_wanted(in_events text[], in_type text) returns boolean
language sql immutable
return in_events && array[in_type, '*', split_part(in_type, '.', 1) || '.*'];

-- Gives what the state machines have told since the last call its place, and each endpoint that wants it a delivery: events
-- of one account one after the other, as they were committed, and those of one object in their order.
-- Gives how many there were, and the endpoints that have something to be sent.
create function spread_events(in_lease text, in_epoch bigint, in_now timestamptz(3), in_limit integer)
returns table (spread integer, endpoints text[])
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  return query
  with taken as materialized (
    select o.id, o.resource, o.message_id, o.payload, o.created_at,
      coalesce(
        o.payload ->> 'account',
        (select m.account from mirror m where m.name = o.resource and m.kind in ('Invoice', 'Site', 'App', 'DevInstance')),
        ''
      ) as account
    from outbox o
    where o.channel = 'event' and o.due_at <= in_now
    order by o.due_at, o.id
    limit in_limit
  ),
  settled as (
    update outbox o set state = 'sent', due_at = null, settled_at = in_now from taken t where o.id = t.id returning o.id
  ),
  heads as (
    insert into event_heads as h (account, last)
    select t.account, count(*) from taken t group by t.account order by t.account
    on conflict (account) do update set last = h.last + excluded.last
    returning h.account, h.last
  ),
  placed as (
    select t.*,
      h.last - count(*) over (partition by t.account) + row_number() over (partition by t.account order by t.id) as sequence,
      coalesce(
        (select e.object_sequence from events e where e.object = t.resource order by e.object_sequence desc limit 1), 0
      ) + row_number() over (partition by t.resource order by t.id) as object_sequence
    from taken t join heads h on h.account = t.account
  ),
  told as (
    insert into events (account, sequence, id, type, object, object_sequence, test, data, created_at)
    select p.account, p.sequence, p.message_id, p.payload ->> 'type', p.resource, p.object_sequence,
      coalesce((p.payload ->> 'test')::boolean, false), p.payload -> 'data', p.created_at
    from placed p
    returning account, sequence, type, created_at
  ),
  queued as (
    insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
    select w.id, t.account, t.sequence, 1, false, in_now, in_now
    from told t join webhook_endpoints w on w.account = t.account
    where w.disabled_at is null and is_wanted(w.events, t.type)
    order by t.account, t.sequence
    returning endpoint
  )
  select (select count(*)::integer from settled),
    (select coalesce(array_agg(distinct q.endpoint), '{}') from queued q);
end
$$;

-- Records how attempts ended: [{id, begun, state, status, latencyMs, fault, response, nextAt, isLast}] and, for some,
-- {gone: reason} and {mail: {resource, purpose, messageId, payload}}. Only who holds the lease of an attempt ends it. The next attempt
-- is written with the end of the one before; an endpoint that is gone is told nothing more.
create function settle_deliveries(in_results json, in_now timestamptz(3)) returns void
language plpgsql
as $$
#variable_conflict use_column
begin
  with given as materialized (
    select * from json_to_recordset(in_results) as g(
      id bigint, begun integer, state text, status integer, "latencyMs" integer, fault text, response text,
      "nextAt" timestamptz(3), "isLast" boolean, gone text, mail jsonb
    )
  ),
  ended as (
    update deliveries d set
      state = g.state, status = g.status, latency_ms = g."latencyMs", fault = g.fault, response = g.response,
      next_attempt_at = g."nextAt", due_at = null, lease_until = null, settled_at = in_now
    from given g
    where d.id = g.id and d.begun = g.begun and d.state = 'pending'
    returning d.endpoint, d.account, d.sequence, d.attempt, d.state, g.fault, g."nextAt", g."isLast", g.gone, g.mail
  ),
  again as (
    insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
    select e.endpoint, e.account, e.sequence, e.attempt + 1, e."isLast", e."nextAt", in_now
    from ended e where e."nextAt" is not null and e.gone is null
  ),
  stands as (
    select e.endpoint, bool_or(e.state = 'delivered') as works, max(e.fault) as fault, max(e.gone) as gone
    from ended e group by e.endpoint
  ),
  marked as (
    update webhook_endpoints w set
      failing_since = case when s.works then null else coalesce(w.failing_since, in_now) end,
      last_error = case when s.works then null else s.fault end,
      disabled_at = case when s.gone is null then w.disabled_at else coalesce(w.disabled_at, in_now) end,
      disabled_reason = case when s.gone is null then w.disabled_reason else coalesce(w.disabled_reason, s.gone) end,
      version = w.version + case when s.gone is null or w.disabled_at is not null then 0 else 1 end
    from stands s
    where w.id = s.endpoint and (
      s.gone is not null or s.works <> (w.failing_since is null) or (not s.works and w.last_error is distinct from s.fault)
    )
    returning w.id, w.disabled_at
  )
  insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
  select distinct on (e.mail ->> 'resource', e.mail ->> 'purpose')
    e.mail ->> 'resource', e.mail ->> 'purpose', 'mail', e.mail ->> 'messageId', e.mail -> 'payload', in_now, in_now
  from ended e where e.mail is not null and jsonb_typeof(e.mail) = 'object'
  on conflict (resource, purpose) do nothing;

  -- What an endpoint that was switched off still waits for.
  if exists (select from json_to_recordset(in_results) as r(gone text) where r.gone is not null) then
    update deliveries d set state = 'dead', fault = 'ENDPOINT_DISABLED', due_at = null, lease_until = null, settled_at = in_now
    where d.state = 'pending' and d.endpoint = any (array(
      select w.id
      from json_to_recordset(in_results) as r(id bigint, gone text)
      cross join lateral (select dd.endpoint from deliveries dd where dd.id = r.id limit 1) dd
      cross join lateral (select ww.id, ww.disabled_at from webhook_endpoints ww where ww.id = dd.endpoint limit 1) w
      where r.gone is not null and w.disabled_at is not null
    ));
  end if;
end
$$;

-- The endpoints with something due, first attempts and repeats apart. Steps from endpoint to endpoint along the indexes, so
-- that it costs by the number of endpoints, however much waits for one of them.
create function due_endpoints(in_now timestamptz(3), in_epoch bigint) returns table (endpoint text, again boolean)
language sql stable
as $$
  with recursive firsts (endpoint) as (
    (select d.endpoint from deliveries d where d.state = 'pending' and d.attempt = 1 order by d.endpoint limit 1)
    union all
    select (
      select d.endpoint from deliveries d
      where d.state = 'pending' and d.attempt = 1 and d.endpoint > f.endpoint order by d.endpoint limit 1
    ) from firsts f where f.endpoint is not null
  ),
  agains (endpoint) as (
    (select d.endpoint from deliveries d where d.state = 'pending' and d.attempt > 1 order by d.endpoint limit 1)
    union all
    select (
      select d.endpoint from deliveries d
      where d.state = 'pending' and d.attempt > 1 and d.endpoint > a.endpoint order by d.endpoint limit 1
    ) from agains a where a.endpoint is not null
  )
  select f.endpoint, false from firsts f
  where exists (
    select from deliveries d
    where d.endpoint = f.endpoint and d.state = 'pending' and d.attempt = 1 and d.due_at <= in_now
      and (d.lease_until is null or d.lease_until <= in_now or d.epoch < in_epoch)
  )
  union all
  select a.endpoint, true from agains a
  where exists (
    select from deliveries d
    where d.endpoint = a.endpoint and d.state = 'pending' and d.attempt > 1 and d.due_at <= in_now
      and (d.lease_until is null or d.lease_until <= in_now or d.epoch < in_epoch)
  )
$$;

-- One turn of the sender in one commit: records how its last attempts ended, frees what it does not begin after all, and
-- leases it what is due.
--   in_released           [{id, begun}]
--   in_firsts, in_rooms   whose first attempts are asked for, and how many of each
--   in_agains             whose repeats, one of each
create function turn_deliveries(
  in_lease text, in_epoch bigint, in_results json, in_released json, in_firsts text[], in_rooms integer[],
  in_agains text[], in_now timestamptz(3), in_lease_until timestamptz(3)
)
returns table (
  id bigint, endpoint text, version bigint, "isFailing" boolean, begun integer, attempt integer, "isLast" boolean, account text, sequence bigint,
  "eventId" text, type text, "objectSequence" bigint, test boolean, data jsonb, "createdAt" text
)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  if json_array_length(in_results) > 0 then
    perform settle_deliveries(in_results, in_now);
  end if;
  if json_array_length(in_released) > 0 then
    update deliveries d set lease_until = null, begun = d.begun - 1
    from json_to_recordset(in_released) as r(id bigint, begun integer)
    where d.id = r.id and d.begun = r.begun and d.epoch = in_epoch and d.state = 'pending';
  end if;
  if cardinality(in_firsts) = 0 and cardinality(in_agains) = 0 then
    return;
  end if;
  return query
  with firsts as (
    select f.id
    from unnest(in_firsts, in_rooms) as r(endpoint, room)
    cross join lateral (
      select d.id from deliveries d
      where d.endpoint = r.endpoint and d.state = 'pending' and d.attempt = 1 and d.due_at <= in_now
        and (d.lease_until is null or d.lease_until <= in_now or d.epoch < in_epoch)
      order by d.due_at, d.id
      limit r.room
    ) f
  ),
  agains as (
    select f.id
    from unnest(in_agains) as r(endpoint)
    cross join lateral (
      select d.id from deliveries d
      where d.endpoint = r.endpoint and d.state = 'pending' and d.attempt > 1 and d.due_at <= in_now
        and (d.lease_until is null or d.lease_until <= in_now or d.epoch < in_epoch)
      order by d.due_at, d.id
      limit 1
    ) f
  ),
  taken as (
    update deliveries d set begun = d.begun + 1, lease_until = in_lease_until, epoch = in_epoch
    where d.id = any (array(select f.id from firsts f union all select a.id from agains a))
    returning d.id, d.endpoint, d.begun, d.attempt, d.is_last, d.account, d.sequence
  )
  select t.id, t.endpoint, w.version, w.failing_since is not null, t.begun, t.attempt, t.is_last, t.account, t.sequence, e.id, e.type, e.object_sequence, e.test,
    e.data, iso_ms(e.created_at)
  from taken t
  -- By key, each: the plan is kept, and a join might read every endpoint.
  cross join lateral (select ww.version, ww.failing_since from webhook_endpoints ww where ww.id = t.endpoint limit 1) w
  cross join lateral (select ee.* from events ee where ee.account = t.account and ee.sequence = t.sequence limit 1) e
  order by t.id;
end
$$;

-- Stores an endpoint. Gives the one that stands: `made` is false for one that was there already with this url and these events;
-- no row at all: the account has as many as it may.
create function create_endpoint(
  in_id text, in_account text, in_url text, in_events text[], in_fingerprint text, in_secret bytea, in_limit integer,
  in_at timestamptz(3)
)
returns table (id text, made boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  known text;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhook_endpoints/' || in_account, 0));
  select w.id into known from webhook_endpoints w where w.account = in_account and w.fingerprint = in_fingerprint;
  if found then
    return query select known, false;
  elsif (select count(*) from webhook_endpoints w where w.account = in_account) < in_limit then
    insert into webhook_endpoints (id, account, url, events, fingerprint, secret, created_at, updated_at)
    values (in_id, in_account, in_url, in_events, in_fingerprint, in_secret, in_at, in_at);
    return query select in_id, true;
  end if;
end
$$;

-- Something was queued for an endpoint by hand: nobody waits for the next look.
create function tell_herald(in_endpoint text) returns void
language sql
return pg_notify('webhooks', in_endpoint);

-- A message to one endpoint alone, with a place among the account's events like any other. Gives the delivery.
create function ping_endpoint(in_endpoint text, in_event text, in_type text, in_data jsonb, in_at timestamptz(3))
returns bigint
language plpgsql
as $$
#variable_conflict use_column
declare
  whose text;
  place bigint;
  made bigint;
begin
  select w.account into whose from webhook_endpoints w where w.id = in_endpoint;
  if not found then
    return null;
  end if;
  insert into event_heads as h (account, last) values (whose, 1)
  on conflict (account) do update set last = h.last + 1 returning h.last into place;
  insert into events (account, sequence, id, type, object, object_sequence, test, data, created_at)
  values (
    whose, place, in_event, in_type, in_endpoint,
    coalesce((select max(e.object_sequence) from events e where e.object = in_endpoint), 0) + 1, true, in_data, in_at
  );
  insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
  values (in_endpoint, whose, place, 1, true, in_at, in_at) returning id into made;
  perform tell_herald(in_endpoint);
  return made;
end
$$;

-- Sends again what an endpoint was told, or would have been told, in a range of sequences; what still waits is left to wait.
-- Gives the new deliveries, oldest first.
create function redeliver_events(
  in_endpoint text, in_after bigint, in_until bigint, in_all boolean, in_limit integer, in_at timestamptz(3)
)
returns table (id bigint, sequence bigint)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  with wanted as (
    select e.account, e.sequence
    from webhook_endpoints w join events e on e.account = w.account
    where w.id = in_endpoint and w.disabled_at is null and e.sequence > in_after and e.sequence <= in_until
      and (in_all or is_wanted(w.events, e.type))
      and not exists (
        select from deliveries d
        where d.account = e.account and d.sequence = e.sequence and d.endpoint = w.id and d.state = 'pending'
      )
    order by e.sequence
    limit in_limit
  )
  insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
  select in_endpoint, v.account, v.sequence, 1, false, in_at, in_at from wanted v order by v.sequence
  returning id, sequence;
  if found then
    perform tell_herald(in_endpoint);
  end if;
end
$$;
