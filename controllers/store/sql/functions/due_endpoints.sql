-- The endpoints with something due, first attempts and repeats apart. Steps from endpoint to endpoint along the indexes, so
-- that it costs by the number of endpoints, however much waits for one of them.
create or replace function due_endpoints(in_now timestamptz(3), in_epoch bigint) returns table (endpoint text, again boolean)
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
