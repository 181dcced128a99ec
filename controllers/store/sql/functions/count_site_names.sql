-- Adds to what each name was visited. Of one sort a site has at most 200 names on a day; others count under ''.
create or replace function count_site_names(in_site text, in_day date, in_sort text, in_counts json) returns void
language sql
as $$
  with given as (
    select c.name, c.visits, k.name is not null as is_known,
      row_number() over (partition by k.name is not null order by c.visits desc, c.name) as turn
    from json_to_recordset(in_counts) as c(name text, visits bigint)
    left join site_day_names k on k.site = in_site and k.day = in_day and k.sort = in_sort and k.name = c.name
  ),
  room as (
    select 200 - count(*) as free from site_day_names k
    where k.site = in_site and k.day = in_day and k.sort = in_sort and k.name <> ''
  )
  insert into site_day_names as n (site, day, sort, name, visits)
  select in_site, in_day, in_sort, named.name, sum(named.visits)
  from (
    select case when g.is_known or g.turn <= r.free then g.name else '' end as name, g.visits from given g, room r
  ) named
  group by named.name
  on conflict (site, day, sort, name) do update set visits = n.visits + excluded.visits
$$;
