-- What was uploaded for an app, whether it was deployed or not. Sending the same files again makes them the newest. The bytes are
-- the account's (app_sources), of which other apps of it may make use.
create table app_uploads (
  app text not null,
  account text not null,
  digest text not null,
  uploaded_at timestamptz(3) not null,
  -- What was written for a project without a compose file: {kind, why}. Null where it had one.
  recognised jsonb,
  -- Where it was fetched from: {url, ref, commit}. Null for what was sent.
  git jsonb,
  primary key (app, digest)
);
create index app_uploads_of_account on app_uploads (account, digest);

-- Those of before were deployed as they came.
insert into app_uploads (app, account, digest, uploaded_at)
select distinct on (o.app, s.digest) o.app, s.account, s.digest, s.created_at
from app_releases r
join app_operations o on o.id = r.operation
join app_sources s on s.account = o.account and s.digest = r.source;

-- By which accounts take images from registries that do not give them to everybody. `sealed` is the password.
create table app_registries (
  account text not null,
  host text not null,
  username text not null,
  sealed bytea not null,
  updated_at timestamptz(3) not null default now(),
  primary key (account, host)
);
