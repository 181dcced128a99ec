-- What is older than so many days: superseded generations, and resources that were deleted with the fact that they were,
-- unless something is still to happen to what they stand for. At most in_limit of each. Gives how many rows went.
create or replace function prune_desires(in_lease text, in_epoch bigint, in_days integer, in_limit integer) returns bigint
language plpgsql
as $$
declare
  before timestamptz := now() - make_interval(days => in_days);
  gone bigint := 0;
  more bigint;
begin
  perform fence(in_lease, in_epoch);
  delete from desire_history h
  where h.ctid = any (array(
    select o.ctid from desire_history o where o.superseded_at < before order by o.superseded_at limit in_limit
  ));
  get diagnostics gone = row_count;
  with old as (
    select x.* from deletions x
    where coalesce(x.seen_at, x.asked_at) < before
      and not exists (select from schedule s where s.kind = x.kind and s.resource = x.name)
    order by coalesce(x.seen_at, x.asked_at) limit in_limit
  ), unwanted as (
    delete from desires d using old o where d.kind = o.kind and d.name = o.name and d.uid = o.uid
  )
  delete from deletions x using old o where x.kind = o.kind and x.name = o.name and x.uid = o.uid;
  get diagnostics more = row_count;
  return gone + more;
end
$$;
