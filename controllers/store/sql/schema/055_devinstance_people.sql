-- Public keys that people log in with to dev instances. What is on a machine follows from them with its next report.
create table account_ssh_keys (
  id text primary key,
  account text not null,
  name text not null,
  -- The type and the key, as a line of authorized_keys begins.
  line text not null,
  -- As ssh-keygen tells it: SHA256:…
  fingerprint text not null,
  changed_at timestamptz(3) not null,
  constraint ssh_key_once unique (account, fingerprint)
);

-- Each environment is brought to its machine once at each start: to which key, and whether the machine has said that it has it. No value
-- stands here.
create table devbox_env_fetches (
  resource text not null,
  -- Of environment and start (crds/devinstance/bootstrap/unseal.ts).
  version text not null,
  -- Digest of the key that it was sealed to.
  recipient text not null,
  brought_at timestamptz(3) not null,
  held_at timestamptz(3),
  -- When another key asked for it first.
  refused_at timestamptz(3),
  primary key (resource, version)
);
