-- Writes what was decided of a backup, with the piece of it that came and what is told of it, all or nothing. Decided on its rev: whoever
-- comes with an older one, or where something else of the app runs that stops services, gets nothing and looks again.
--   in_backup  as app_backup_row gives it
--   in_part    {sha256, bytes} of the next piece, which lies among the blobs; or null
--   in_event   as for tell_event, or null
create or replace function move_app_backup(
  in_lease text, in_epoch bigint, in_backup json, in_part json, in_event json, in_at timestamptz(3)
)
returns table (backup json)
language plpgsql
as $$
declare
  held app_backups;
  moved app_backups;
begin
  perform fence(in_lease, in_epoch);
  select b.* into held from app_backups b where b.id = in_backup ->> 'id' for update;
  if not found or held.rev <> (in_backup ->> 'rev')::integer then
    return;
  end if;
  -- One at a time stops services: operations are decided on the same revision (store_app_outcome).
  if held.restores is not null and held.state = 'queued' and in_backup ->> 'state' = 'running' then
    insert into app_revisions as v (app, rev) values (held.app, 1) on conflict (app) do update set rev = v.rev + 1;
    if exists (select from app_operations o where o.app = held.app and o.state = 'running') then
      return;
    end if;
  end if;
  if in_part is not null then
    insert into app_backup_parts (backup, n, sha256, bytes)
    select held.id, coalesce(max(p.n) + 1, 0), decode(in_part ->> 'sha256', 'hex'), (in_part ->> 'bytes')::bigint
    from app_backup_parts p where p.backup = held.id;
  end if;
  update app_backups b set
    rev = b.rev + 1, state = g.state, release = g.release, packed = nullif(g.packed, 'null'::jsonb),
    taken = b.taken + coalesce((in_part ->> 'bytes')::bigint, 0), laid = g.laid, applied_at = g."appliedAt", code = g.code,
    message = g.message, started_at = g."startedAt", ended_at = g."endedAt",
    -- That it is the newest of its volume now is no reason to forget when it goes.
    expires_at = coalesce(g."expiresAt", b.expires_at), dropped_at = g."droppedAt"
  from json_to_record(in_backup) as g(
    state text, release integer, packed jsonb, laid bigint, "appliedAt" timestamptz(3), code text, message text,
    "startedAt" timestamptz(3), "endedAt" timestamptz(3), "expiresAt" timestamptz(3), "droppedAt" timestamptz(3)
  )
  where b.id = held.id
  returning b.* into moved;
  -- Of what did not come to its end nothing is kept.
  if moved.state in ('failed', 'cancelled') then
    perform drop_app_backup_parts(array[moved.id]);
  end if;
  if in_event is not null then
    perform tell_event(moved.app, 'backup:' || moved.id, in_event, in_at);
  end if;
  return query select app_backup_row(moved);
end
$$;
