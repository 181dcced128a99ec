-- Counts what was read of a host's files, and how far they were read, at once; false, and nothing, when somebody else has read on from
-- there. What is said of sites that are no more is left out.
create or replace function fold_visits(in_lease text, in_epoch bigint, in_host text, in_files json, in_days json) returns boolean
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  perform pg_advisory_xact_lock(hashtextextended('visits/' || in_host, 0));
  if exists (
    select from json_to_recordset(in_files) as f(file text, "from" bigint)
    left join visit_places p on p.host = in_host and p.file = f.file
    where coalesce(p.place, 0) <> f."from"
  ) then
    return false;
  end if;
  insert into visit_places as p (host, file, place)
  select in_host, f.file, f."to" from json_to_recordset(in_files) as f(file text, "to" bigint)
  on conflict (host, file) do update set place = excluded.place, read_at = now();
  perform count_visits(d.site, d.day, d.visits, d.robots, d.visitors, d.pages)
  from json_to_recordset(in_days)
    as d(site text, day date, visits bigint, robots bigint, visitors json, pages json)
  where exists (select from site_places s where s.site = d.site);
  return true;
end
$$;
