-- What is kept of visits no longer: counts after 400 days, who was seen after 8, and files that no host has any more.
create or replace function sweep_visits(in_lease text, in_epoch bigint, in_today date) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_visitors v where v.day < in_today - 8;
  delete from site_days d where d.day < in_today - 400;
  delete from site_day_names n where n.day < in_today - 400;
  delete from visit_places p where p.read_at < now() - interval '10 days';
end
$$;
