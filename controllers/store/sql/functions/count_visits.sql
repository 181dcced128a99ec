-- Adds to what one site was visited on one day. Who was not seen that day counts as a visitor, and brings along where he came from: a
-- referrer that is sent again and again counts once. Beyond 50,000 visitors nobody is told from the others.
create or replace function count_visits(
  in_site text, in_day date, in_visits bigint, in_robots bigint, in_visitors json, in_pages json
)
returns void
language plpgsql
as $$
declare
  seen integer;
  referrers json;
begin
  insert into site_days as d (site, day, visits, robots) values (in_site, in_day, in_visits, in_robots)
  on conflict (site, day) do update set visits = d.visits + excluded.visits, robots = d.robots + excluded.robots
  returning d.visitors into seen;
  with fresh as (
    insert into site_visitors (site, day, visitor)
    select in_site, in_day, v.visitor from json_to_recordset(in_visitors) as v(visitor text)
    limit greatest(0, 50000 - seen)
    on conflict do nothing
    returning visitor
  ),
  counted as (
    update site_days d set visitors = d.visitors + (select count(*) from fresh)
    where d.site = in_site and d.day = in_day and exists (select from fresh)
  ),
  came as (
    select v.referrer as name, count(*) as visits
    from fresh join json_to_recordset(in_visitors) as v(visitor text, referrer text) using (visitor)
    where v.referrer is not null
    group by v.referrer
  )
  select coalesce(json_agg(came), '[]') into referrers from came;
  perform count_site_names(in_site, in_day, 'page', in_pages);
  perform count_site_names(in_site, in_day, 'referrer', referrers);
end
$$;
