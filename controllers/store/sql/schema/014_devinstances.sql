-- One row to lock for all who change what an owner is committed to.
create table devbox_owners (account text primary key);

-- The row of a dev instance: what its accepted facts add up to, and what must be unique or bounded beyond one instance.
create table devboxes (
  resource text primary key,
  account text not null,
  -- Of the resource that entered it.
  uid text,
  name text not null,
  -- What counts against the owner's cap; 0 once nothing can cost any more.
  committed_micro_usd bigint not null check (committed_micro_usd >= 0),
  pricing_version text not null,
  -- Decisions so far: each is made against the one before.
  rev bigint not null default 0,
  -- Null: reserved, and its resource has not been seen by the controllers.
  box jsonb,
  instance_id text,
  teams text[] not null default '{}',
  token_hash bytea check (length(token_hash) = 32),
  reserved_at timestamptz(3) not null,
  -- A tombstone frees the name; the row is kept.
  deleted_at timestamptz(3),
  constraint devbox_is_sound check (resource <> '' and account <> '' and name <> '')
) with (fillfactor = 60);
create unique index devbox_name on devboxes (account, lower(name)) where deleted_at is null;
-- Identity is the instance's id, never its name or address.
create unique index devbox_instance on devboxes (instance_id) where instance_id is not null;
create index devbox_of_account on devboxes (account, resource) where deleted_at is null;
create index devbox_of_teams on devboxes using gin (teams) where deleted_at is null;

-- Every address that was ever held, from when until when. What is held, is held by one.
create table devbox_addresses (
  resource text not null,
  allocation_id text not null,
  public_ip text not null,
  held_from timestamptz(3) not null,
  released_at timestamptz(3),
  primary key (resource, allocation_id, held_from)
);
create unique index devbox_allocation on devbox_addresses (allocation_id) where released_at is null;
create unique index devbox_public_ip on devbox_addresses (public_ip) where released_at is null;

create table devbox_history (
  resource text not null,
  n bigint not null,
  kind text not null,
  at timestamptz(3) not null,
  -- The account and the credential that said it; null: the operator itself.
  said_by jsonb,
  version bigint not null,
  data jsonb not null,
  primary key (resource, n)
);

-- Environments, sealed under a data key of their own, which is wrapped: with the row both are gone. The fact that names
-- the key makes it the present one.
create table devbox_envs (
  resource text not null,
  key text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  primary key (resource, key)
);

-- The latest report, and a ring of those before it. High volume and of no value later: a crash may lose some.
create table devbox_report_heads (
  resource text primary key,
  n bigint not null,
  received_at timestamptz(3) not null,
  body jsonb not null
) with (fillfactor = 50);

create table devbox_reports (
  resource text not null,
  slot integer not null,
  received_at timestamptz(3) not null,
  body jsonb not null,
  primary key (resource, slot)
) with (fillfactor = 50);
