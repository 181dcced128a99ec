-- The newest of a volume stays, whatever its age: it has no day on which it goes.
create or replace function app_backup_row(in_backup app_backups) returns json
language sql stable
return json_build_object(
  'id', in_backup.id, 'app', in_backup.app, 'account', in_backup.account, 'volume', in_backup.volume,
  'consistency', in_backup.consistency, 'restores', in_backup.restores, 'rev', in_backup.rev, 'state', in_backup.state,
  'release', in_backup.release, 'packed', in_backup.packed, 'taken', in_backup.taken, 'given', in_backup.given,
  'laid', in_backup.laid, 'appliedAt', iso_ms(in_backup.applied_at), 'code', in_backup.code, 'message', in_backup.message,
  'createdAt', iso_ms(in_backup.created_at), 'startedAt', iso_ms(in_backup.started_at),
  'endedAt', iso_ms(in_backup.ended_at), 'cancelAt', iso_ms(in_backup.cancel_at),
  'expiresAt', (
    select iso_ms(in_backup.expires_at)
    where exists (
      select from app_backups o
      where o.app = in_backup.app and o.volume = in_backup.volume and o.state = 'succeeded'
        and (o.created_at, o.id) > (in_backup.created_at, in_backup.id)
    )
  ),
  'droppedAt', iso_ms(in_backup.dropped_at)
);
