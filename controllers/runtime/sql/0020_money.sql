-- What was decided about a pending fact, beside yes or no: the amount that "all that is left" came to, or why it was refused.
alter table facts add column outcome jsonb;

-- Documents that follow from what happened rather than from a send: an invoice stamped PAID or VOID, its credit notes.
-- The fact that stands beside each (snapshot:<id>) tells of it; here is what stood on it.
create table snapshots (
  resource text not null,
  id text not null,
  at timestamptz(3) not null,
  frozen jsonb not null,
  sha256 bytea not null references blobs,
  bytes bigint not null,
  primary key (resource, id),
  constraint snapshot_is_sound check (resource <> '' and id <> '' and bytes > 0)
);
create trigger snapshots_are_append_only before update or delete on snapshots
  for each row execute function refuse_change();
create trigger snapshots_are_never_emptied before truncate on snapshots
  for each statement execute function refuse_change();

-- in_verdicts  [{resource, seq, state, refusedCode, outcome?, at, event?}]; gives how each fact stands now, decided by this
-- or before.
create or replace function decide_facts(in_lease text, in_epoch bigint, in_verdicts json)
returns table (resource text, seq bigint, state text)
language plpgsql
as $$
#variable_conflict use_column
declare
  verdict record;
begin
  perform fence(in_lease, in_epoch);
  -- One by one and in one order: two deciders never wait in a circle, and each is a look-up by key.
  for verdict in
    select v.* from json_to_recordset(in_verdicts) as v(
      resource text, seq bigint, state text, "refusedCode" text, outcome jsonb, at timestamptz(3), event json
    )
    order by v.resource, v.seq
  loop
    update facts f set
      state = verdict.state, refused_code = verdict."refusedCode", outcome = verdict.outcome, decided_at = verdict.at
    where f.resource = verdict.resource and f.seq = verdict.seq and f.state = 'pending';
    if found and verdict.state = 'accepted' and verdict.event is not null then
      perform tell_event(f.resource, f.key, verdict.event, verdict.at)
      from facts f where f.resource = verdict.resource and f.seq = verdict.seq;
    end if;
    return query
    select f.resource, f.seq, f.state from facts f where f.resource = verdict.resource and f.seq = verdict.seq;
  end loop;
end
$$;

-- Freezes one document with the fact that tells of it, the mail and the event that follow from it, all or nothing.
--   in_snapshot  {resource, id, at, frozen, sha256, bytes, fact: {resource, key, …}, mail: {…} | null}
-- `fact` as for append_facts, `mail` and in_content as for freeze_sends. Gives whether it is new; what is frozen stays.
create function freeze_snapshot(in_lease text, in_epoch bigint, in_snapshot json, in_content bytea)
returns table (fresh boolean)
language plpgsql
as $$
declare
  given record;
begin
  perform fence(in_lease, in_epoch);
  select s.* into given from json_to_record(in_snapshot) as s(
    resource text, id text, at timestamptz(3), frozen jsonb, sha256 text, bytes bigint, fact json, mail json
  );
  perform put_blobs(json_build_array(json_build_object('sha256', given.sha256, 'bytes', given.bytes, 'start', 0)), in_content);
  insert into snapshots (resource, id, at, frozen, sha256, bytes)
  values (given.resource, given.id, given.at, given.frozen, decode(given.sha256, 'hex'), given.bytes)
  on conflict do nothing;
  if not found then
    return query select false;
    return;
  end if;
  perform append_facts(in_lease, in_epoch, json_build_array(given.fact));
  insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
  select given.resource, m.purpose, m.channel, m."messageId", m.payload, given.at, given.at
  from json_to_record(given.mail) as m(purpose text, channel text, "messageId" text, payload jsonb)
  where m.purpose is not null
  on conflict (resource, purpose) do nothing;
  return query select true;
end
$$;

-- As in 0004, and the event that is told of each send, when it has one: event {type, data}.
create or replace function freeze_sends(in_lease text, in_epoch bigint, in_sends json, in_blobs json, in_content bytea)
returns table (resource text, n integer)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  perform put_blobs(in_blobs, in_content);

  return query
  with given as materialized (
    select s.*
    from json_to_recordset(in_sends) as s(
      resource text, n integer, at timestamptz(3), gate text, frozen jsonb, sha256 text, bytes bigint, mail json,
      event json
    )
  ),
  frozen as (
    insert into sends (resource, n, at, gate, frozen, sha256, bytes)
    select g.resource, g.n, g.at, g.gate, g.frozen, decode(g.sha256, 'hex'), g.bytes
    from given g
    order by g.resource, g.n
    on conflict do nothing
    returning resource, n
  ),
  queued as (
    insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
    select g.resource, m.purpose, m.channel, m.message_id, m.payload, g.at, g.at
    from given g
    join frozen f on f.resource = g.resource and f.n = g.n
    cross join lateral (values
      (1, g.mail ->> 'purpose', g.mail ->> 'channel', g.mail ->> 'messageId', (g.mail -> 'payload')::jsonb),
      -- The id is made as in tell_event.
      (2, case when g.event is not null then 'event:send:' || g.n end, 'event',
        'evt_' || left(encode(sha256(convert_to(g.resource || e'\n' || 'send:' || g.n, 'UTF8')), 'hex'), 32),
        g.event::jsonb)
    ) m(place, purpose, channel, message_id, payload)
    where m.purpose is not null
    order by g.resource, g.n, m.place
    on conflict (resource, purpose) do nothing
  )
  select f.resource, f.n from frozen f;
end
$$;

-- As in 0004, and what was decided about each fact.
create or replace function observe_resources(in_resources text[])
returns table (resource text, record json, sends json, facts json, deliveries json)
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return query
  select a.resource,
    (
      select json_build_object(
        'number', r.number, 'seriesId', r.series_id, 'seq', r.seq, 'kind', r.kind, 'issuedAt', iso_ms(r.issued_at),
        'uid', r.uid, 'claimed', r.claimed
      )
      from register r where r.resource = a.resource
    ),
    (
      select json_agg(json_build_object(
        'n', s.n, 'at', iso_ms(s.at), 'gate', s.gate, 'sha256', encode(s.sha256, 'hex'), 'bytes', s.bytes,
        'frozen', case when s.newest then s.frozen end
      ) order by s.n)
      from (
        select s.*, lead(s.n) over (order by s.n) is null as newest from sends s where s.resource = a.resource
      ) s
    ),
    (
      select json_agg(json_build_object(
        'seq', f.seq, 'key', f.key, 'kind', f.kind, 'body', f.body, 'state', f.state, 'refusedCode', f.refused_code,
        'outcome', f.outcome, 'at', iso_ms(f.at)
      ) order by f.seq)
      from facts f where f.resource = a.resource
    ),
    (
      select json_agg(json_build_object(
        'purpose', o.purpose, 'attempts', o.attempts, 'lastError', o.last_error,
        'state', case
          when o.state in ('sent', 'failed') then o.state
          when o.unknowns > 0 then 'unknown'
          else 'queued'
        end
      ) order by o.id)
      from outbox o where o.resource = a.resource and o.channel = 'mail'
    )
  from unnest(in_resources) as a(resource);
end
$$;

-- As in 0005; a mail may be about a snapshot (payload.snapshot), behind the gate of the send that it names.
create or replace function turn_outbox(
  in_lease text, in_epoch bigint,
  in_ids bigint[], in_attempts integer[], in_states text[], in_errors text[], in_dues timestamptz[],
  in_channel text, in_now timestamptz, in_lease_until timestamptz, in_limit integer
)
returns table (
  id bigint, resource text, purpose text, message_id text, payload jsonb, attempt integer, unknowns integer,
  created_at text, gate text, frozen jsonb
)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  for place in 1..cardinality(in_ids) loop
    update outbox o set
      state = in_states[place],
      unknowns = o.unknowns + case when in_states[place] = 'unknown' then 1 else 0 end,
      last_error = coalesce(in_errors[place], o.last_error),
      due_at = in_dues[place],
      settled_at = case when in_states[place] in ('sent', 'failed') then in_now end
    where o.id = in_ids[place] and o.attempts = in_attempts[place] and o.state = 'sending';
  end loop;
  if in_limit = 0 then
    return;
  end if;
  return query
  with taken as (
    update outbox o set
      state = 'sending',
      attempts = o.attempts + 1,
      unknowns = o.unknowns + case when o.state = 'sending' then 1 else 0 end,
      last_error = case
        when o.state = 'sending' then 'the outcome of attempt ' || o.attempts || ' is unknown: its sender went away'
        else o.last_error
      end,
      lease_until = in_lease_until,
      epoch = in_epoch
    -- An array, not a join: the plan is kept, and a join might be planned as a read of the whole outbox. The rows come in
    -- the order of the index, so the limit ends the search, however many are due.
    where o.id = any (array(
      select d.id
      from outbox d
      where d.channel = in_channel and d.due_at <= in_now
        and (d.state <> 'sending' or d.lease_until <= in_now or d.epoch < in_epoch)
      order by d.due_at, d.id
      limit in_limit
      for update skip locked
    ))
    returning o.*
  )
  select t.id, t.resource, t.purpose, t.message_id, t.payload, t.attempts, t.unknowns, iso_ms(t.created_at),
    s.gate, coalesce(p.frozen, s.frozen)
  from taken t
  left join lateral (
    select * from sends s where s.resource = t.resource and s.n = (t.payload ->> 'n')::integer limit 1
  ) s on true
  left join lateral (
    select * from snapshots p where p.resource = t.resource and p.id = t.payload ->> 'snapshot' limit 1
  ) p on true
  order by t.id;
end
$$;
