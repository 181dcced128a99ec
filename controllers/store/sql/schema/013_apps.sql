-- A name under a host's base domain. It stays its account's when the app goes and its volumes stay: whoever takes the name
-- takes the volumes that bear it.
create table app_slugs (
  host text not null,
  slug text not null,
  account text not null,
  app text,
  taken_at timestamptz(3) not null default now(),
  primary key (host, slug)
);
create unique index app_slugs_of_app on app_slugs (app) where app is not null;

-- What an account uploaded, by the digest of its files. Another account's upload is not found under the same digest.
create table app_sources (
  account text not null,
  digest text not null,
  -- Blobs: the files as a tar, and what the policy reads of them.
  sha256 text not null,
  index_sha256 text not null,
  bytes bigint not null,
  files integer not null,
  created_at timestamptz(3) not null default now(),
  primary key (account, digest)
);

-- Versions of an app's env, never changed. `sealed` holds names and values, `keys` the names alone.
create table app_env (
  app text not null,
  version integer not null check (version > 0),
  sealed bytea not null,
  keys text[] not null,
  created_at timestamptz(3) not null default now(),
  primary key (app, version)
);

-- Passwords of private apps: scrypt, one row per password that was ever set, so that a session names the one it was opened by.
create table app_passwords (
  app text not null,
  version integer not null check (version > 0),
  salt bytea not null,
  hash bytea not null,
  created_at timestamptz(3) not null default now(),
  primary key (app, version)
);

-- What somebody asked to be done to an app, in the order of asking, and what became of it. One at a time.
-- `n` counts per app. A row that came by REST counts once the resource's spec.asked has reached n: what was never written
-- into the resource is not done.
create table app_operations (
  id text primary key,
  app text not null,
  account text not null,
  n integer not null check (n > 0),
  kind text not null check (kind in ('deploy', 'rollback', 'env')),
  intent jsonb not null,
  by_controller boolean not null,
  state text not null check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'unknown')),
  -- The release that it makes, once it has begun.
  release integer,
  code text,
  message text,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  cancel_at timestamptz(3),
  -- From here on visitors may reach the new release: it is too late to cancel.
  switch_at timestamptz(3),
  unique (app, n),
  constraint ended_has_an_end check ((ended_at is not null) = (state in ('succeeded', 'failed', 'cancelled', 'unknown')))
);
create unique index app_operations_one_at_a_time on app_operations (app) where state = 'running';

create table app_steps (
  operation text not null references app_operations (id) on delete cascade,
  place integer not null,
  name text not null,
  state text not null check (state in ('pending', 'running', 'succeeded', 'failed', 'skipped')),
  started_at timestamptz(3),
  ended_at timestamptz(3),
  message text,
  primary key (operation, place)
);

create table app_releases (
  app text not null,
  number integer not null check (number > 0),
  id text not null unique,
  operation text not null,
  state text not null check (state in ('building', 'starting', 'live', 'superseded', 'failed')),
  reason text,
  log_tail text,
  restored_from integer,
  source text not null,
  env_version integer,
  -- What is known of it without a secret: image ids, budget, verdict, route. `sealed` is the whole, `digest` names it.
  record jsonb,
  sealed bytea,
  digest text,
  -- `host:port` on the host, where its routed service listens.
  address text,
  created_at timestamptz(3) not null,
  live_at timestamptz(3),
  superseded_at timestamptz(3),
  -- Nothing of it runs any more.
  retired_at timestamptz(3),
  primary key (app, number)
);
create unique index app_releases_one_live on app_releases (app) where state = 'live';

-- The route that was set last: its digest, and whom it leads to.
create table app_routes (
  app text primary key,
  digest text not null,
  address text not null
);

-- Somebody reads an app's log: controllers fetch it for as long as somebody does. Of no use after a crash.
create unlogged table app_log_requests (
  id text primary key,
  app text not null,
  tail integer not null,
  follow boolean not null,
  -- Lines after this (as the container engine prints it) are wanted next.
  since text,
  wanted_until timestamptz(3) not null,
  fetched_at timestamptz(3),
  ended boolean not null default false
);
create index app_log_requests_of_app on app_log_requests (app) where not ended;

create unlogged table app_log_chunks (
  request text not null,
  n integer not null,
  content text not null,
  primary key (request, n)
);
