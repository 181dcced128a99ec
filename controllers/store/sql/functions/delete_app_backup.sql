-- A backup that nobody wants any more. `in use`: it is under way, or is being restored.
create or replace function delete_app_backup(in_app text, in_id text) returns table (outcome text)
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('app backups/' || in_app, 0));
  if not exists (select from app_backups b where b.id = in_id and b.app = in_app) then
    return query select 'missing';
    return;
  end if;
  if exists (
    select from app_backups b
    where b.app = in_app and ((b.id = in_id and (b.ended_at is null or b.dropped_at is null))
      or (b.restores = in_id and b.ended_at is null))
  ) then
    return query select 'in use';
    return;
  end if;
  perform drop_app_backup_parts(array[in_id]);
  delete from app_backups b where b.id = in_id;
  return query select 'deleted';
end
$$;
