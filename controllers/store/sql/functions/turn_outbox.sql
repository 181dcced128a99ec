-- One turn of a sender in one transaction: records how its last attempts ended, and leases it what is due next.
-- in_ids … in_dues describe the attempts that ended, one place each. Only the attempt that still holds the lease counts.
-- One that ended `quarantined` is set aside. A row whose lease ran out, or whose sender led under an older epoch, was being
-- sent by somebody who never told the outcome: it is taken again, and the lost attempt is counted as unknown. With
-- in_firsts_only nothing is taken again.
-- Where more is due than in_limit, accounts take turns (outbox_in_turns): in_after is whose turn was last.
-- Gives what was taken, with the send that each message is about, when it is about one (payload.n), or the snapshot
-- (payload.snapshot), behind the gate of the send that it names, and with the versions of its links that are good now; or with
-- the message of a visitor that it brings (payload.message), sealed as it lies.
create or replace function turn_outbox(
  in_lease text, in_epoch bigint,
  in_ids bigint[], in_attempts integer[], in_states text[], in_errors text[], in_dues timestamptz[],
  in_channel text, in_now timestamptz, in_lease_until timestamptz, in_limit integer, in_firsts_only boolean default false,
  in_after text default ''
)
returns table (
  id bigint, kind text, resource text, purpose text, message_id text, payload jsonb, attempt integer, unknowns integer,
  created_at text, gate text, frozen jsonb, links jsonb, sealed bytea, turn text
)
language plpgsql
as $$
#variable_conflict use_column
declare
  next_turn text := in_after;
  next_ids bigint[];
begin
  perform fence(in_lease, in_epoch);
  for place in 1..cardinality(in_ids) loop
    if in_states[place] = 'quarantined' then
      perform quarantine_outbox(o.id, in_errors[place], in_now)
      from outbox o where o.id = in_ids[place] and o.attempts = in_attempts[place] and o.state = 'sending';
      continue;
    end if;
    update outbox o set
      state = in_states[place],
      unknowns = o.unknowns + case when in_states[place] = 'unknown' then 1 else 0 end,
      last_error = coalesce(in_errors[place], o.last_error),
      due_at = in_dues[place],
      settled_at = case when in_states[place] in ('sent', 'failed', 'bounced') then in_now end
    where o.id = in_ids[place] and o.attempts = in_attempts[place] and o.state = 'sending';
  end loop;
  if in_limit = 0 then
    return;
  end if;
  next_ids := array(
    select d.id
    from outbox d
    where d.channel = in_channel and d.due_at <= in_now
      and (d.state <> 'sending' or d.lease_until <= in_now or d.epoch < in_epoch)
      and (d.attempts = 0 or not in_firsts_only)
    order by d.due_at, d.id
    limit in_limit + 1
  );
  if cardinality(next_ids) > in_limit then
    select t.ended_at, t.ids into next_turn, next_ids
    from outbox_in_turns(in_channel, in_epoch, in_now, in_limit, in_firsts_only, in_after) t;
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
    -- An array, not a join: the plan is kept, and a join might be planned as a read of the whole outbox. What somebody else
    -- took meanwhile is no longer as it was found.
    where o.id = any (array(
      select d.id
      from outbox d
      where d.id = any (next_ids) and d.due_at <= in_now
        and (d.state <> 'sending' or d.lease_until <= in_now or d.epoch < in_epoch)
      order by d.due_at, d.id
      for update skip locked
    ))
    returning o.*
  )
  select t.id, t.kind, t.resource, t.purpose, t.message_id, t.payload, t.attempts, t.unknowns, iso_ms(t.created_at),
    s.gate, coalesce(p.frozen, s.frozen), link_versions(t.resource),
    (select m.sealed from site_messages m where m.id = t.payload ->> 'message'), next_turn
  from taken t
  left join lateral (
    -- As it is written: one that is no number must not fail the others that are taken with it.
    select * from sends s where s.resource = t.resource and to_jsonb(s.n) = t.payload -> 'n' limit 1
  ) s on true
  left join lateral (
    select * from snapshots p where p.resource = t.resource and p.id = t.payload ->> 'snapshot' limit 1
  ) p on true
  order by t.id;
end
$$;
