-- One turn of the sender in one commit: records how its last attempts ended, frees what it does not begin after all, and
-- leases it what is due.
--   in_released           [{id, begun}]
--   in_firsts, in_rooms   whose first attempts are asked for, and how many of each
--   in_agains             whose repeats, one of each
create or replace function turn_deliveries(
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
