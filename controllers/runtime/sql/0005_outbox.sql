-- Takes rows that are due and leases them to the caller. A row whose lease ran out, or whose sender led under an older
-- epoch, was being sent by somebody who never told the outcome: it is taken again, and the lost attempt is counted as
-- unknown.
create function claim_outbox(
  in_lease text, in_epoch bigint, in_channel text, in_now timestamptz, in_lease_until timestamptz, in_limit integer
)
returns table (
  id bigint, resource text, purpose text, message_id text, payload jsonb, attempt integer, unknowns integer,
  created_at text
)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  return query
  with due as materialized (
    select o.id
    from outbox o
    where o.channel = in_channel
      and (o.due_at <= in_now or (o.state = 'sending' and o.epoch < in_epoch))
    order by o.due_at, o.id
    limit in_limit
    for update skip locked
  ),
  taken as (
    update outbox o set
      state = 'sending',
      attempts = o.attempts + 1,
      unknowns = o.unknowns + case when o.state = 'sending' then 1 else 0 end,
      last_error = case
        when o.state = 'sending' then 'the outcome of attempt ' || o.attempts || ' is unknown: its sender went away'
        else o.last_error
      end,
      due_at = in_lease_until,
      epoch = in_epoch
    -- An array, not a join: the plan is kept, and a join might be planned as a read of the whole outbox.
    where o.id = any (array(select due.id from due))
    returning o.id, o.resource, o.purpose, o.message_id, o.payload, o.attempts, o.unknowns, iso_ms(o.created_at)
  )
  select * from taken order by 1;
end
$$;

-- in_results  [{id, attempt, state, error, dueAt, at}]. Only the attempt that still holds the lease may settle.
-- Gives the ids that were settled.
create function settle_outbox(in_lease text, in_epoch bigint, in_results json)
returns table (id bigint)
language plpgsql
as $$
#variable_conflict use_column
declare
  ids bigint[];
begin
  perform fence(in_lease, in_epoch);
  select array_agg(r.id) into ids from json_to_recordset(in_results) as r(id bigint);
  -- In one order, so that two settlers never wait for one another in a circle.
  perform from outbox o where o.id = any (ids) order by o.id for update;
  return query
  update outbox o set
    state = r.state,
    unknowns = o.unknowns + case when r.state = 'unknown' then 1 else 0 end,
    last_error = case when r.state = 'sent' then o.last_error else r.error end,
    due_at = r."dueAt",
    settled_at = case when r.state in ('sent', 'failed') then r.at end
  from json_to_recordset(in_results) as r(
    id bigint, attempt integer, state text, error text, "dueAt" timestamptz(3), at timestamptz(3)
  )
  where o.id = any (ids) and o.id = r.id and o.attempts = r.attempt and o.state = 'sending'
  returning o.id;
end
$$;

-- One turn of a sender in one transaction: records how its last attempts ended and takes what is due next.
create function turn_outbox(
  in_lease text, in_epoch bigint, in_results json, in_channel text, in_now timestamptz, in_lease_until timestamptz,
  in_limit integer
)
returns table (
  id bigint, resource text, purpose text, message_id text, payload jsonb, attempt integer, unknowns integer,
  created_at text, gate text, frozen jsonb
)
language plpgsql
as $$
begin
  if json_array_length(in_results) > 0 then
    perform settle_outbox(in_lease, in_epoch, in_results);
  end if;
  -- With the send that the message is about, when it is about one (payload.n).
  return query
  select c.*, s.gate, s.frozen
  from claim_outbox(in_lease, in_epoch, in_channel, in_now, in_lease_until, in_limit) c
  left join lateral (
    select * from sends s where s.resource = c.resource and s.n = (c.payload ->> 'n')::integer limit 1
  ) s on true;
end
$$;
