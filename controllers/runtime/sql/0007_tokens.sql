-- Personal access tokens. The secret itself is never stored, only its keyed hash.
create table tokens (
  id text primary key check (id <> ''),
  account text not null check (account <> ''),
  name text not null,
  secret_hash bytea not null check (length(secret_hash) = 32),
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index tokens_of_account on tokens (account, created_at desc);
