-- What a pass over an app reads of its backups: those that are open, or still on their host, and the last that have ended.
create or replace function observe_app_backups(in_app text, in_limit integer) returns table (backups json)
language sql stable
begin atomic
  select coalesce(json_agg(app_backup_row(p) order by p.created_at, p.id), '[]')
  from (
    select b.* from app_backups b where b.app = in_app and b.dropped_at is null
    union
    (select b.* from app_backups b where b.app = in_app and b.ended_at is not null order by b.ended_at desc limit in_limit)
  ) p;
end;
