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
