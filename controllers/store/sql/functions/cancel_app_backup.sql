-- Somebody asks a backup or a restore to stop. Gives it as it is then; whoever has ended goes on having ended.
create or replace function cancel_app_backup(in_id text, in_at timestamptz(3)) returns json
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  held app_backups;
begin
  update app_backups b set cancel_at = in_at, rev = b.rev + 1
  where b.id = in_id and b.ended_at is null and b.cancel_at is null;
  select b.* into held from app_backups b where b.id = in_id;
  return app_backup_row(held);
end
$$;
