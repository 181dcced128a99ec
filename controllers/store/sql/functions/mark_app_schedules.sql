-- Which schedules an app has, these and no others. in_marks [{name, digest, since}]: one whose digest is another begins anew.
create or replace function mark_app_schedules(in_lease text, in_epoch bigint, in_app text, in_marks json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from app_schedules s
  where s.app = in_app and not exists (
    select from json_to_recordset(in_marks) as m(name text) where m.name = s.name
  );
  delete from app_runs r
  where r.app = in_app and r.schedule is not null and r.dropped_at is not null and not exists (
    select from json_to_recordset(in_marks) as m(name text) where m.name = r.schedule
  );
  insert into app_schedules as s (app, name, digest, since)
  select in_app, m.name, m.digest, m.since
  from json_to_recordset(in_marks) as m(name text, digest text, since timestamptz(3))
  order by m.name
  on conflict (app, name) do update set digest = excluded.digest, since = excluded.since, last_at = null
  where s.digest <> excluded.digest;
end
$$;
