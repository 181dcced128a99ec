-- That this installation is one of development (hack/up, the stage of the tests): made by whoever made the database, never by
-- the two processes. Without it they refuse settings of development (store/installation.ts).
create table development (
  only_row boolean primary key default true check (only_row),
  made_at timestamptz(3) not null default now()
);

-- What the owner is shown of a session, and what ends it: no use for a while, another address of the account.
alter table sessions
  -- Last use, to the minute; null: not since it was begun.
  add column seen_at timestamptz(3),
  -- The account's address when it was begun, in lower case; null: begun before this was kept.
  add column email text,
  add column ip text,
  -- What the browser calls itself, cut.
  add column agent text;

-- How far all chains (audit, register) had come at one moment, in a chain of its own. Each head is told outside (the log, a
-- metric), so that a database which was rewritten as a whole shows (functions/history_head.sql says how a head is recomputed).
create table history_heads (
  n bigint primary key check (n > 0),
  at timestamptz(3) not null,
  head bytea not null check (length(head) = 32)
);
-- The chains that had gone on since the head before.
create table history_marks (
  n bigint not null references history_heads,
  -- audit/<account> or register/<series>
  chain text not null,
  seq bigint not null,
  step integer not null,
  primary key (n, chain)
);
create index history_marks_of_chain on history_marks (chain, n desc);
