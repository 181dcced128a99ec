-- Sends again what an endpoint was told, or would have been told, in a range of sequences. What is planned for later begins
-- now, and keeps its place in its schedule; what is under way, or due, is left as it is. Gives the deliveries that are
-- attempted because of this call, or already, oldest first.
create or replace function redeliver_events(
  in_endpoint text, in_after bigint, in_until bigint, in_all boolean, in_limit integer, in_at timestamptz(3)
)
returns table (id bigint, sequence bigint)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with wanted as materialized (
    select e.account, e.sequence,
      (
        select d.id from deliveries d
        where d.account = e.account and d.sequence = e.sequence and d.endpoint = w.id and d.state = 'pending'
        order by d.id limit 1
      ) as waiting
    from webhook_endpoints w join events e on e.account = w.account
    where w.id = in_endpoint and w.disabled_at is null and e.sequence > in_after and e.sequence <= in_until
      and (in_all or is_wanted(w.events, e.type))
    order by e.sequence
    limit in_limit
  ),
  begun as (
    update deliveries d set due_at = in_at
    where d.id = any (array(select v.waiting from wanted v where v.waiting is not null))
      and d.state = 'pending' and d.due_at > in_at
  ),
  fresh as (
    insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
    select in_endpoint, v.account, v.sequence, 1, false, in_at, in_at from wanted v where v.waiting is null order by v.sequence
    returning id, sequence
  )
  select v.waiting, v.sequence from wanted v where v.waiting is not null
  union all
  select f.id, f.sequence from fresh f
  order by 2;
  if found then
    perform tell_herald(in_endpoint);
  end if;
end
$$;
