-- Its turn has come: it gets a release of its own. Gives that number, again when it has begun before.
create or replace function begin_app_operation(
  in_lease text, in_epoch bigint, in_id text, in_release text, in_source text, in_env_version integer,
  in_restored_from integer, in_at timestamptz
)
returns table (release integer)
language plpgsql
as $$
#variable_conflict use_column
declare
  mine app_operations;
begin
  perform fence(in_lease, in_epoch);
  select o.* into mine from app_operations o where o.id = in_id for update;
  if mine.state = 'queued' and mine.cancel_at is null then
    perform app_lock(mine.app);
    insert into app_releases (app, number, id, operation, state, restored_from, source, env_version, created_at)
    select mine.app, coalesce(max(r.number), 0) + 1, in_release, in_id, 'building', in_restored_from, in_source,
      in_env_version, in_at
    from app_releases r where r.app = mine.app
    returning number into mine.release;
    update app_operations o set state = 'running', started_at = in_at, release = mine.release where o.id = in_id;
    update app_steps s set state = 'running', started_at = in_at where s.operation = in_id and s.place = 1;
  end if;
  return query select o.release from app_operations o where o.id = in_id and o.release is not null;
end
$$;
