-- Personal access tokens. The secret itself is never stored, only its keyed hash.
create table tokens (
  id text primary key check (id <> ''),
  account text not null check (account <> ''),
  name text not null,
  secret_hash bytea not null check (length(secret_hash) = 32),
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- What it may do. Without scopes it has full access (a legacy token).
  scopes text[] check (cardinality(scopes) > 0),
  preset text,
  expires_at timestamptz(3),
  rotated_at timestamptz(3),
  -- The secret before the last rotation opens for as long as the caller of the rotation allowed.
  previous_hash bytea check (length(previous_hash) = 32),
  previous_until timestamptz(3),
  constraint previous_is_whole check ((previous_hash is null) = (previous_until is null))
);
create index tokens_of_account on tokens (account, created_at desc);

-- Keys that sign sessions. The private half is sealed with the server key; a copy of the database signs nothing.
-- A key is published before it signs (signs_from) and verifies until the last session that it signed is over.
create table session_keys (
  kid text primary key check (kid <> ''),
  public_jwk jsonb not null,
  sealed bytea not null,
  created_at timestamptz(3) not null,
  signs_from timestamptz(3) not null,
  -- Set when a newer key takes over.
  verifies_until timestamptz(3)
);

-- One row per signed-in browser or script. The token itself is not kept: its id is enough to revoke it.
create table sessions (
  id text primary key check (id <> ''),
  account text not null check (account <> ''),
  how text not null check (how in ('mail', 'oidc')),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);
create index sessions_of_account on sessions (account, created_at desc);
create index sessions_over on sessions (expires_at);

-- Links to sign in by. The link is derived from the id under the server key, so nothing here opens anything.
create table signins (
  id text primary key check (id <> ''),
  email text not null check (email <> ''),
  next_path text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index signins_over on signins (expires_at);
create index signins_of_email on signins (lower(email collate "C"), created_at);

-- Wrong passwords and codes within the present minute (api/auth/attempts.ts). What expired is of no use: a crash may lose
-- this table, so it is not logged.
create unlogged table attempts (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- What was asked under an Idempotency-Key, and what was answered. A row stands before its handler runs, so of many equal
-- requests at once one runs; it is kept for 24 hours from the first use and swept away after that.
create table idempotency (
  account text not null check (account <> ''),
  -- Method and template, such as 'POST /api/invoices'.
  route text not null check (route <> ''),
  key text not null check (length(key) between 1 and 255),
  -- Keyed hash of path and body: a plain one of a short secret could be guessed from a copy of the database.
  fingerprint bytea not null check (length(fingerprint) = 32),
  first_used_at timestamptz(3) not null,
  -- 'running'; 'answered': kept and replayed; 'refused' (4xx): nothing was done, the key may be used with a corrected
  -- body; 'failed' (5xx): what was done is not known, the same request may run again.
  state text not null check (state in ('running', 'answered', 'refused', 'failed')),
  -- Names the run that may write the outcome.
  run uuid not null,
  -- While it runs: until then it is believed to be alive.
  lease_until timestamptz(3) not null,
  -- Status, headers and body, sealed: a body may show a secret this once.
  sealed bytea,
  primary key (account, route, key),
  constraint answered_is_sealed check ((state = 'answered') = (sealed is not null))
);
create index idempotency_by_age on idempotency (first_used_at);

-- What was answered before it was decided, and where its verdict stands. A row is written with the answer 202 and no
-- sooner; it is kept for 7 days and swept away after that, whatever has become of it.
create table operations (
  id text primary key check (id <> ''),
  -- Who asked: nobody else sees it.
  account text not null check (account <> ''),
  method text not null,
  -- As sent, without the query.
  path text not null,
  -- Of the route that was called: whoever reads the verdict has to be let in there too.
  scope jsonb not null,
  kind text not null,
  name text not null,
  -- Where the resource is read over REST.
  resource text not null,
  -- Says how the goal is judged (api/wiring/commands.ts).
  command text not null,
  -- What decides it, sealed: it may hold a credential that the answer shows.
  goal bytea not null,
  state text not null check (state in ('pending', 'succeeded', 'refused', 'unknown')),
  -- What whoever waited would have been answered, sealed for the same reason.
  outcome bytea,
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  constraint settled_has_outcome
    check ((state = 'pending') = (settled_at is null) and (state = 'pending') = (outcome is null))
);
create index operations_by_age on operations (created_at);
