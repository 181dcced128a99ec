-- What a decision about an operation rests on, as it stands at one revision of the app.
create or replace function app_decision_rows(in_app text, in_id text)
returns table (
  rev bigint, held json, open json, last_operation integer, release json, live json, last_release integer, restoring text
)
language sql stable
begin atomic
  select
    coalesce((select v.rev from app_revisions v where v.app = in_app), 0),
    (select app_operation_row(o) from app_operations o where o.id = in_id),
    (
      select coalesce(json_agg(app_operation_row(o) order by o.n), '[]')
      from app_operations o where o.app = in_app and o.ended_at is null
    ),
    coalesce((select max(o.n) from app_operations o where o.app = in_app), 0),
    (
      select app_release_row(r) from app_releases r
      where r.app = in_app and r.number = (select o.release from app_operations o where o.id = in_id and o.app = in_app)
    ),
    (select app_release_row(r) from app_releases r where r.app = in_app and r.state = 'live'),
    coalesce((select max(r.number) from app_releases r where r.app = in_app), 0),
    (
      select b.id from app_backups b
      where b.app = in_app and b.restores is not null and b.state = 'running' and b.applied_at is null limit 1
    );
end;
