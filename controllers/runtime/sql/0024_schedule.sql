-- What is to happen at an instant. Rows are written by the pass that wishes it, for its resource as a whole, and claimed by
-- the sweep when they are due.
create table schedule (
  kind text not null,
  resource text not null,
  purpose text not null,
  due_at timestamptz(3) not null,
  -- From here on something else is due: a pass says what.
  lapses_at timestamptz(3),
  -- What it was decided on. It holds while the spec is of this generation (which the sweep sees) and no fact has followed.
  generation bigint not null,
  fact_seq bigint not null,
  -- {fact: {key, kind, body, event?}, mail?: {purpose, channel, messageId, payload}}: what its claim writes, in one
  -- transaction with the claim. Null: the resource is to be looked at, and the pass writes what follows.
  effect jsonb,
  -- When a pass was last asked to look; every change of the row takes it back.
  looked_at timestamptz(3),
  primary key (resource, purpose),
  constraint scheduled_is_sound check (resource <> '' and purpose <> '')
);
create index schedule_due on schedule (due_at);

-- in_plans  [{kind, resource, rows: [{purpose, dueAt, lapsesAt, generation, factSeq, effect}]}], each resource once: its rows
-- are these and no others.
create function put_schedule(in_lease text, in_epoch bigint, in_plans json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from schedule s
  using json_to_recordset(in_plans) as p(resource text, rows json)
  where s.resource = p.resource
    and not exists (select from json_to_recordset(p.rows) as r(purpose text) where r.purpose = s.purpose);
  insert into schedule (kind, resource, purpose, due_at, lapses_at, generation, fact_seq, effect)
  select p.kind, p.resource, r.purpose, r."dueAt", r."lapsesAt", r.generation, r."factSeq",
    nullif(r.effect, 'null'::jsonb)
  from json_to_recordset(in_plans) as p(kind text, resource text, rows json),
  lateral json_to_recordset(p.rows) as r(
    purpose text, "dueAt" timestamptz(3), "lapsesAt" timestamptz(3), generation bigint, "factSeq" bigint, effect jsonb
  )
  order by p.resource, r.purpose
  on conflict (resource, purpose) do update set
    due_at = excluded.due_at, lapses_at = excluded.lapses_at, generation = excluded.generation,
    fact_seq = excluded.fact_seq, effect = excluded.effect, looked_at = null;
end
$$;

-- The rows of some resources, as the plan compares them with its wishes.
create function schedule_of(in_resource text) returns json
language sql stable
return (
  select json_agg(json_build_object(
    'purpose', s.purpose, 'dueAt', iso_ms(s.due_at), 'lapsesAt', iso_ms(s.lapses_at), 'generation', s.generation,
    'factSeq', s.fact_seq, 'effect', s.effect
  ) order by s.purpose)
  from schedule s where s.resource = in_resource
);

-- One turn of the sweep in one transaction.
--   in_claims  [{resource, purpose, generation, factSeq}]: due, and the spec is of that generation. A row is claimed unless
--              it has changed, or a fact has followed: the locks are those of append_facts, so a payment that is recorded
--              before the claim stops it.
--   in_looks   [{resource, purpose}]: what a pass is asked to look at, as is every claim that does not hold any more.
--   in_gone    resources that are no more.
-- Gives the rows that were claimed.
create function turn_schedule(
  in_lease text, in_epoch bigint, in_now timestamptz, in_claims json, in_looks json, in_gone text[]
)
returns table (resource text, purpose text, mailed boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  taken json;
begin
  perform fence(in_lease, in_epoch);
  delete from schedule s where s.resource = any (in_gone);

  perform pg_advisory_xact_lock(l.key)
  from (
    select distinct hashtextextended(c.resource, 0) as key from json_to_recordset(in_claims) as c(resource text)
    order by 1
  ) l;
  with claimed as (
    delete from schedule s
    using json_to_recordset(in_claims) as c(resource text, purpose text, generation bigint, "factSeq" bigint)
    where s.resource = c.resource and s.purpose = c.purpose and s.generation = c.generation and s.fact_seq = c."factSeq"
      and s.effect is not null and s.due_at <= in_now and (s.lapses_at is null or s.lapses_at > in_now)
      and not exists (select from facts f where f.resource = s.resource and f.seq > s.fact_seq)
    returning s.resource, s.purpose, s.due_at, s.effect
  )
  select coalesce(json_agg(json_build_object(
    'resource', c.resource, 'purpose', c.purpose, 'effect', c.effect
  ) order by c.due_at, c.resource, c.purpose), '[]') into taken
  from claimed c;

  perform append_facts(in_lease, in_epoch, f.facts)
  from (
    select json_agg(json_build_object(
      'resource', t.resource, 'key', t.effect #>> '{fact,key}', 'kind', t.effect #>> '{fact,kind}',
      'body', t.effect #> '{fact,body}', 'event', t.effect #> '{fact,event}', 'writtenBy', 'controller',
      'state', 'accepted', 'at', iso_ms(in_now)
    ) order by t.place) as facts
    from rows from (json_to_recordset(taken) as (resource text, effect jsonb)) with ordinality
      as t(resource, effect, place)
  ) f
  where f.facts is not null;
  insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
  select t.resource, m.purpose, m.channel, m."messageId", m.payload, in_now, in_now
  from json_to_recordset(taken) as t(resource text, effect jsonb),
  lateral jsonb_to_record(t.effect -> 'mail') as m(purpose text, channel text, "messageId" text, payload jsonb)
  where m.purpose is not null
  on conflict (resource, purpose) do nothing;

  update schedule s set looked_at = in_now
  from (
    select l.resource, l.purpose from json_to_recordset(in_looks) as l(resource text, purpose text)
    union
    select c.resource, c.purpose from json_to_recordset(in_claims) as c(resource text, purpose text)
  ) a
  where s.resource = a.resource and s.purpose = a.purpose;
  return query
  select t.resource, t.purpose, t.effect ? 'mail' from json_to_recordset(taken) as t(resource text, purpose text, effect jsonb);
end
$$;

-- Decides on one fact and queues the mail that follows from it, all or nothing. `in_verdict` as for decide_facts, `in_mail`
-- {purpose, channel, messageId, payload} or null; it is queued once, however often this is repeated.
create function decide_with_mail(in_lease text, in_epoch bigint, in_verdict json, in_mail json)
returns table (state text)
language plpgsql
as $$
declare
  decided record;
begin
  select d.resource, d.state into strict decided
  from decide_facts(in_lease, in_epoch, json_build_array(in_verdict)) d;
  insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
  select decided.resource, m.purpose, m.channel, m."messageId", m.payload, v.at, v.at
  from json_to_record(in_mail) as m(purpose text, channel text, "messageId" text, payload jsonb),
  json_to_record(in_verdict) as v(at timestamptz(3))
  where decided.state = 'accepted' and m.purpose is not null
  on conflict (resource, purpose) do nothing;
  return query select decided.state;
end
$$;

-- The zone that an issuer's instants were reckoned in is another: a pass over each of its invoices reckons them anew. When a
-- test goes is no matter of zones.
create function reckon_anew(in_account text, in_issuer text, in_now timestamptz) returns void
language sql volatile
begin atomic
  update schedule s set due_at = in_now, generation = 0, looked_at = null
  from mirror m
  where m.kind = 'Invoice' and m.account = in_account and m.issuer_id = in_issuer
    and s.kind = m.kind and s.resource = m.name and s.purpose <> 'purge';
end;

-- Documents are kept for ever, except those of a test, which goes after its time (spec/1 Limits). The schema knows which are.
create function is_test_invoice(in_resource text) returns boolean
language sql stable
return coalesce((select r.claimed -> 'test' = 'true'::jsonb from register r where r.resource = in_resource), true);

create function refuse_removal() returns trigger
language plpgsql
as $$
begin
  if current_setting('bottega.purging', true) = old.resource and is_test_invoice(old.resource) then
    return old;
  end if;
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'P0001';
end
$$;
drop trigger sends_are_append_only on sends;
create trigger sends_are_append_only before update on sends for each row execute function refuse_change();
create trigger sends_are_kept before delete on sends for each row execute function refuse_removal();
drop trigger snapshots_are_append_only on snapshots;
create trigger snapshots_are_append_only before update on snapshots for each row execute function refuse_change();
create trigger snapshots_are_kept before delete on snapshots for each row execute function refuse_removal();
drop trigger facts_are_never_deleted on facts;
create trigger facts_are_kept before delete on facts for each row execute function refuse_removal();

-- Which bytes are still named is asked when a test is purged.
create index sends_by_bytes on sends (sha256);
create index snapshots_by_bytes on snapshots (sha256);
create index facts_by_drawing on facts ((body ->> 'sha256')) where kind = 'previewed';

-- Takes away what a test invoice has left in the ledger, but for its entry in the register, and the bytes that nothing else
-- names. One that is no test stays as it is. Gives how many documents went.
create function purge_test(in_lease text, in_epoch bigint, in_resource text) returns table (documents bigint)
language plpgsql
as $$
declare
  hashes bytea[];
  gone bigint;
begin
  perform fence(in_lease, in_epoch);
  if not is_test_invoice(in_resource) then
    return query select 0::bigint;
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(in_resource, 0));
  perform set_config('bottega.purging', in_resource, true);
  select array_agg(distinct h.sha256), count(h.*) into hashes, gone
  from (
    select s.sha256 from sends s where s.resource = in_resource
    union all
    select p.sha256 from snapshots p where p.resource = in_resource
    union all
    select decode(f.body ->> 'sha256', 'hex') from facts f where f.resource = in_resource and f.kind = 'previewed'
  ) h;
  delete from sends s where s.resource = in_resource;
  delete from snapshots p where p.resource = in_resource;
  delete from facts f where f.resource = in_resource;
  delete from schedule s where s.resource = in_resource;
  with unnamed as (
    delete from blobs b
    where b.sha256 = any (hashes)
      and not exists (select from sends s where s.sha256 = b.sha256)
      and not exists (select from snapshots p where p.sha256 = b.sha256)
      and not exists (
        select from facts f where f.kind = 'previewed' and f.body ->> 'sha256' = encode(b.sha256, 'hex')
      )
    returning b.sha256
  )
  delete from blob_chunks c using unnamed u where c.sha256 = u.sha256;
  perform set_config('bottega.purging', '', true);
  return query select gone;
end
$$;
