-- Under which uid the rows of a resource know it, and since when it is there: it goes on as the one before it under its
-- name where that one was the same account's and nobody saw or asked for its deletion; the cluster was lost, then, or made
-- again. One row for each that is asked for, in no order.
create or replace function origins_of(in_kinds text[], in_names text[], in_uids text[], in_accounts text[])
returns table (uid text, origin text, created_at timestamptz)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select k.uid, coalesce(d.origin, k.uid), d.created_at
  from unnest(in_kinds, in_names, in_uids, in_accounts) as k(kind, name, uid, account)
  left join lateral (
    select e.* from desires e
    where e.kind = k.kind and e.name = k.name
      and (e.uid = k.uid or e.account = k.account and not is_deleted(e.kind, e.name, e.uid))
    limit 1
  ) d on true;
end;
