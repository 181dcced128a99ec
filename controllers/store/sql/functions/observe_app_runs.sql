-- What a pass over an app reads of its runs: those that are open, or still on their host, those of an operation that is under
-- way or has the live release, and the last that have ended; since when its schedules are as they are; when it is woken for them.
create or replace function observe_app_runs(in_app text, in_limit integer)
returns table (runs json, marks json, wakes_at text)
language sql stable
begin atomic
  select
    (
      select coalesce(json_agg(app_run_row(p) order by p.created_at, p.id), '[]')
      from (
        select r.* from app_runs r where r.app = in_app and r.dropped_at is null
        union
        select r.* from app_runs r
        where r.app = in_app and r.operation in (
          select o.id from app_operations o where o.app = in_app and o.ended_at is null
          union all
          select l.operation from app_releases l where l.app = in_app and l.state = 'live'
        )
        union
        (select r.* from app_runs r where r.app = in_app and r.ended_at is not null order by r.ended_at desc limit in_limit)
      ) p
    ),
    (
      select coalesce(json_agg(json_build_object(
        'name', s.name, 'digest', s.digest, 'since', iso_ms(s.since), 'lastAt', iso_ms(s.last_at)
      ) order by s.name), '[]')
      from app_schedules s where s.app = in_app
    ),
    (select iso_ms(d.due_at) from schedule d where d.resource = in_app and d.purpose = 'app-schedules');
end;
