-- Enters a backup as queued for somebody who asked, or finds it under its id; at most in_open of an app wait or run. A restore names the
-- backup that it takes, which is its app's own and whole.
--   in_backup  as app_backup_row gives it
create or replace function ask_app_backup(in_backup json, in_open integer, in_at timestamptz(3))
returns table (outcome text, backup json)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  held app_backups;
  source app_backups;
begin
  perform pg_advisory_xact_lock(hashtextextended('app backups/' || (in_backup ->> 'app'), 0));
  select b.* into held from app_backups b where b.id = in_backup ->> 'id';
  if found then
    return query select case when held.app = in_backup ->> 'app' then 'held' else 'mismatch' end, app_backup_row(held);
    return;
  end if;
  if in_open <= (select count(*) from app_backups b where b.app = in_backup ->> 'app' and b.ended_at is null) then
    return query select 'full', null::json;
    return;
  end if;
  if in_backup ->> 'restores' is not null then
    select b.* into source from app_backups b
    where b.id = in_backup ->> 'restores' and b.app = in_backup ->> 'app' and b.state = 'succeeded' and b.packed is not null;
    if not found then
      return query select 'gone', null::json;
      return;
    end if;
  end if;
  insert into app_backups (id, app, account, volume, consistency, restores, given, state, created_at)
  values (
    in_backup ->> 'id', in_backup ->> 'app', in_backup ->> 'account', in_backup ->> 'volume', in_backup ->> 'consistency',
    source.id, source.packed - 'how', 'queued', in_at
  );
  return query select 'asked', app_backup_row(b) from app_backups b where b.id = in_backup ->> 'id';
end
$$;
