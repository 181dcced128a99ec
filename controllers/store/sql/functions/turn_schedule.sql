-- One turn of the sweep in one transaction.
--   in_claims  [{resource, purpose, generation, factSeq}]: due, and the spec is of that generation. A row is claimed unless
--              it has changed, or a fact has followed: the locks are those of append_facts, so a payment that is recorded
--              before the claim stops it.
--   in_looks   [{resource, purpose}]: what a pass is asked to look at, as is every claim that does not hold any more.
--   in_gone    resources that the watch does not hold, and of which nothing is kept that goes on without one. Their rows go
--              where a deletion is on record: seen, or asked for by a purge. All others stay, and are looked at again later.
-- Gives the rows that were claimed.
create or replace function turn_schedule(
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
  delete from schedule s
  where s.resource = any (in_gone)
    and exists (
      select from deletions x
      where x.kind = s.kind and x.name = s.resource
        -- a purge asks for the deletion itself, and takes away what else would have it seen
        and (x.seen_at is not null or s.purpose = 'purge')
    )
    and not exists (
      select from desires d where d.kind = s.kind and d.name = s.resource and not is_deleted(d.kind, d.name, d.uid)
    );

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
    returning s.kind, s.resource, s.purpose, s.due_at, s.effect
  )
  select coalesce(json_agg(json_build_object(
    'kind', c.kind, 'resource', c.resource, 'purpose', c.purpose, 'effect', c.effect
  ) order by c.due_at, c.resource, c.purpose), '[]') into taken
  from claimed c;

  perform append_facts(in_lease, in_epoch, f.facts)
  from (
    select json_agg(json_build_object(
      'resource', t.resource, 'resourceKind', t.kind, 'key', t.effect #>> '{fact,key}', 'kind', t.effect #>> '{fact,kind}',
      'body', t.effect #> '{fact,body}', 'event', t.effect #> '{fact,event}', 'writtenBy', 'controller',
      'state', 'accepted', 'at', iso_ms(in_now)
    ) order by t.place) as facts
    from rows from (json_to_recordset(taken) as (kind text, resource text, effect jsonb)) with ordinality
      as t(kind, resource, effect, place)
  ) f
  where f.facts is not null;
  insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
  select m.kind, t.resource, m.account, m.purpose, m.channel, m."messageId", m.payload, in_now, in_now
  from json_to_recordset(taken) as t(resource text, effect jsonb),
  lateral jsonb_to_record(t.effect -> 'mail') as m(
    kind text, account text, purpose text, channel text, "messageId" text, payload jsonb
  )
  where m.purpose is not null
  on conflict (resource, purpose) do nothing;

  update schedule s set looked_at = in_now
  from (
    select l.resource, l.purpose from json_to_recordset(in_looks) as l(resource text, purpose text)
    union
    select c.resource, c.purpose from json_to_recordset(in_claims) as c(resource text, purpose text)
    union
    select g.resource, g.purpose from schedule g where g.resource = any (in_gone) and g.due_at <= in_now
  ) a
  where s.resource = a.resource and s.purpose = a.purpose;
  return query
  select t.resource, t.purpose, t.effect ? 'mail' from json_to_recordset(taken) as t(resource text, purpose text, effect jsonb);
end
$$;
