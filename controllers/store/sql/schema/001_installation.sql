-- The one row: which cluster this database serves.
create table installation (
  one boolean primary key default true check (one),
  -- The uid of its namespace kube-system.
  cluster_uid text not null check (cluster_uid <> ''),
  bound_at timestamptz(3) not null default now(),
  -- Why nobody leads: too much of what is known is absent from that cluster. {token, detail}
  disagreement jsonb
);

-- One row per lease. Who takes a lease raises its epoch; every effect statement carries the epoch it was started under.
create table epochs (
  lease text primary key check (lease <> ''),
  epoch bigint not null check (epoch > 0),
  holder text not null,
  taken_at timestamptz(3) not null default now()
);

-- How far the platform's clock has been moved forward, on a development installation (controllers/store/clock.ts). `moves` counts
-- the moves, `settled` is the last one after which everything that fell due was looked at.
create table dev_clock (
  only_row boolean primary key default true check (only_row),
  offset_ms bigint not null check (offset_ms >= 0),
  moves bigint not null,
  settled bigint not null default 0
);
