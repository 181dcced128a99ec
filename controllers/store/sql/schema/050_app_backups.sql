-- What volumes held. The archive is packed on the host of its app and kept here, in pieces that lie among the blobs: whoever loses the
-- host has it still. A restore is a row as well: what was there before is its archive.
create table app_backups (
  id text primary key,
  app text not null,
  account text not null,
  volume text not null,
  consistency text not null check (consistency in ('moment', 'live')),
  -- The backup that is put into the volume.
  restores text,
  -- Counts its changes.
  rev integer not null default 1,
  state text not null check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  release integer,
  -- Of the archive, once its host has packed it: {bytes, sha256, how}.
  packed jsonb,
  taken bigint not null default 0,
  -- Of the archive that is restored: {bytes, sha256}, and how much of it is on the host.
  given jsonb,
  laid bigint not null default 0,
  applied_at timestamptz(3),
  code text,
  message text,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  cancel_at timestamptz(3),
  expires_at timestamptz(3),
  -- Nothing of it is on its host any more.
  dropped_at timestamptz(3),
  constraint restore_has_an_archive check ((restores is null) = (given is null)),
  constraint ended_backup_has_an_end check ((ended_at is null) = (state in ('queued', 'running')))
);
create index app_backups_of_app on app_backups (app, created_at desc);
create index app_backups_left on app_backups (app) where dropped_at is null;
create index app_backups_of_account on app_backups (account);

-- Pieces of an archive, in their order from 0.
create table app_backup_parts (
  backup text not null references app_backups (id) on delete cascade,
  n integer not null check (n >= 0),
  sha256 bytea not null,
  bytes bigint not null check (bytes > 0),
  primary key (backup, n)
);
create index app_backup_parts_by_bytes on app_backup_parts (sha256);

-- It tells of a restore as well, by another result.
drop function if exists app_decision_rows(text, text);
