-- Sets aside what waited in an older copy of the database: it may have gone out since. Mail and events of the outbox end as unknown,
-- deliveries as dead; calls of the card processor are left, for it tells what was asked before. Safe to repeat.
-- Gives how much of each it was.
create or replace function set_aside_waiting(in_lease text, in_epoch bigint, in_reason text, in_now timestamptz(3))
returns table (source text, count integer)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  return query
  with unsent as (
    update outbox o set
      state = 'unknown', unknowns = o.unknowns + 1, due_at = null, lease_until = null, settled_at = in_now,
      last_error = left(in_reason, 500)
    where o.due_at is not null and o.channel <> 'card'
    returning o.id, o.kind, o.resource, o.account, o.channel, o.attempts
  ),
  untold as (
    update deliveries d set
      state = 'dead', fault = left(in_reason, 500), due_at = null, lease_until = null, settled_at = in_now
    where d.state = 'pending'
    returning d.id, d.endpoint, d.account, d.attempt
  ),
  aside as (
    insert into quarantine (source, source_id, kind, resource, account, reason, tries, at)
    select u.channel, u.id, u.kind, u.resource, u.account, left(in_reason, 500), u.attempts, in_now from unsent u
    union all
    select 'delivery', u.id, 'Endpoint', u.endpoint, u.account, left(in_reason, 500), u.attempt, in_now from untold u
    on conflict (source, source_id) where released_at is null do nothing
    returning source
  )
  select a.source, count(*)::integer from aside a group by a.source order by a.source;
end
$$;
