-- What happened, written once under a unique key. seq counts per resource, so a resource's status can say how many of
-- its facts it has folded.
create table facts (
  resource text not null,
  seq bigint not null,
  key text not null,
  kind text not null,
  body jsonb not null,
  -- 'api' facts need no epoch: they only say what somebody reported. What a controller did stands under its epoch.
  written_by text not null,
  state text not null,
  -- Why it was refused: a code, for the answer to whoever reported it.
  refused_code text,
  at timestamptz(3) not null,
  decided_at timestamptz(3),
  primary key (resource, seq),
  unique (resource, key),
  constraint fact_is_sound check (
    resource <> '' and key <> '' and kind <> '' and written_by in ('api', 'controller')
    and state in ('pending', 'accepted', 'refused')
  ),
  constraint adopted_is_the_controllers check (kind <> 'adopted' or written_by = 'controller'),
  constraint refused_has_a_code check ((state = 'refused') = (refused_code is not null)),
  constraint pending_is_undecided check ((state = 'pending') = (decided_at is null))
);

create function facts_only_decide() returns trigger
language plpgsql
as $$
begin
  if old.state = 'pending' and new.state in ('accepted', 'refused')
    and (old.resource, old.seq, old.key, old.kind, old.body, old.written_by, old.at)
      is not distinct from (new.resource, new.seq, new.key, new.kind, new.body, new.written_by, new.at)
  then
    return new;
  end if;
  raise exception 'a fact is written once, and decided once while it is pending' using errcode = 'P0001';
end
$$;
create trigger facts_are_decided_once before update on facts for each row execute function facts_only_decide();
create trigger facts_are_never_deleted before delete on facts for each row execute function refuse_change();
create trigger facts_are_never_emptied before truncate on facts for each statement execute function refuse_change();

-- What is told of an accepted fact, to whoever listens: in the fact's own transaction, once per fact, and under an id that
-- is the same in every attempt. in_event {type, data}.
create function tell_event(in_resource text, in_key text, in_event json, in_at timestamptz) returns void
language plpgsql
as $$
begin
  insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
  values (
    in_resource, 'event:' || in_key, 'event',
    'evt_' || left(encode(sha256(convert_to(in_resource || E'\n' || in_key, 'UTF8')), 'hex'), 32),
    in_event::jsonb, in_at, in_at
  )
  on conflict (resource, purpose) do nothing;
end
$$;

-- in_facts  [{resource, key, kind, body, writtenBy, state, at, event?}]; gives the row that stands under each key, once each.
create function append_facts(in_lease text, in_epoch bigint, in_facts json)
returns table (
  resource text, seq bigint, key text, kind text, body jsonb, state text, refused_code text, at text, fresh boolean
)
language plpgsql
as $$
#variable_conflict use_column
begin
  if in_epoch is not null then
    perform fence(in_lease, in_epoch);
  elsif exists (
    select from json_to_recordset(in_facts) as f("writtenBy" text) where f."writtenBy" is distinct from 'api'
  ) then
    raise exception 'a controller''s fact needs an epoch' using errcode = 'BT001';
  end if;

  -- One writer at a time per resource, or two would take the same seq; in one order, so that nobody waits in a circle.
  perform pg_advisory_xact_lock(l.key)
  from (
    select distinct hashtextextended(f.resource, 0) as key from json_to_recordset(in_facts) as f(resource text)
    order by 1
  ) l;

  return query
  with given as materialized (
    select g.*
    from rows from (
      json_to_recordset(in_facts) as (
        resource text, key text, kind text, body jsonb, "writtenBy" text, state text, at timestamptz(3), event json
      )
    ) with ordinality as g(resource, key, kind, body, written_by, state, at, event, place)
  ),
  held as materialized (
    select f.*
    from (select distinct g.resource, g.key from given g) g,
    lateral (select * from facts f where f.resource = g.resource and f.key = g.key limit 1) f
  ),
  fresh as materialized (
    select n.*, row_number() over (partition by n.resource order by n.place) + coalesce(
      (select max(f.seq) from facts f where f.resource = n.resource), 0
    ) as seq
    from (
      select distinct on (g.resource, g.key) g.*
      from given g
      where not exists (select from held h where h.resource = g.resource and h.key = g.key)
      order by g.resource, g.key, g.place
    ) n
  ),
  entered as (
    insert into facts (resource, seq, key, kind, body, written_by, state, at, decided_at)
    select n.resource, n.seq, n.key, n.kind, n.body, n.written_by, n.state, n.at,
      case when n.state <> 'pending' then n.at end
    from fresh n
  ),
  told as materialized (
    select tell_event(n.resource, n.key, n.event, n.at) from fresh n where n.event is not null and n.state = 'accepted'
  )
  select h.resource, h.seq, h.key, h.kind, h.body, h.state, h.refused_code, iso_ms(h.at), false from held h
  union all
  select n.resource, n.seq, n.key, n.kind, n.body, n.state, null, iso_ms(n.at), true from fresh n
  union all
  -- A part of a statement that nobody reads is not run.
  select null, count(*), null, null, null, null, null, null, null from told having count(*) < 0;
end
$$;

-- in_verdicts  [{resource, seq, state, refusedCode, at, event?}]; gives how each fact stands now, decided by this or before.
create function decide_facts(in_lease text, in_epoch bigint, in_verdicts json)
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
    select v.* from json_to_recordset(in_verdicts)
      as v(resource text, seq bigint, state text, "refusedCode" text, at timestamptz(3), event json)
    order by v.resource, v.seq
  loop
    update facts f set state = verdict.state, refused_code = verdict."refusedCode", decided_at = verdict.at
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
