-- Gives these rows of the outbox their place, and each endpoint that wants one a delivery. One of them that cannot be told
-- fails all (spread_events goes on with each alone).
create or replace function spread_rows(in_ids bigint[], in_now timestamptz(3), out spread integer, out endpoints text[])
language sql
as $$
  with taken as materialized (
    select o.id, o.resource, o.account, o.message_id, o.payload, o.created_at
    from outbox o
    where o.id = any (in_ids)
    order by o.id
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
    (select coalesce(array_agg(distinct q.endpoint), '{}') from queued q)
$$;
