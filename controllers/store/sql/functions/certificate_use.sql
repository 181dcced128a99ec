-- What names would ask of a CA. in_names  [{hostname, root}]; gives for each root how many of them are new on the host, how many were
-- ordered within seven days, and (with a limit that they break) when there is room for all of them again.
-- A name is not new while it has a route, for its certificate is renewed, nor as long as the proxy has a good one from before.
create or replace function certificate_use(in_host text, in_ca text, in_names json, in_limit integer, in_now timestamptz)
returns table (root text, fresh integer, used integer, free_at timestamptz)
language sql stable
as $$
  with asked as (
    select n.root, count(*) filter (where not exists (
        select from host_names h where h.host = in_host and h.hostname = n.hostname
      ) and not exists (
        select from certificate_orders o
        where o.host = in_host and o.hostname = n.hostname and o.ordered_at > in_now - interval '60 days'
      ))::int as fresh
    from json_to_recordset(in_names) as n(hostname text, root text)
    group by n.root
  )
  select a.root, a.fresh, coalesce(u.used, 0), case when u.used + a.fresh > in_limit then (
      select o.ordered_at + interval '7 days' from certificate_orders o
      where o.ca = in_ca and o.root = a.root and o.ordered_at > in_now - interval '7 days'
      order by o.ordered_at offset greatest(least(u.used + a.fresh - in_limit, u.used), 1) - 1 limit 1
    ) end
  from asked a
  left join lateral (
    select count(*)::int as used from certificate_orders o
    where o.ca = in_ca and o.root = a.root and o.ordered_at > in_now - interval '7 days'
  ) u on true;
$$;
