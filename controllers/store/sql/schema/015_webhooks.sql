-- Who is told of what, what was told, and how each delivery went (rules/webhook.md#endpoints, #delivery-log).

create table webhook_endpoints (
  id text primary key,
  account text not null,
  url text not null,
  -- Names of events, `*` or `<object>.*`; sorted, each once.
  events text[] not null check (cardinality(events) > 0),
  -- Of url and events: the same again is the same endpoint.
  fingerprint text not null,
  -- Sealed; the previous one signs as well until previous_until.
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz(3),
  disabled_at timestamptz(3),
  disabled_reason text,
  -- Since when no delivery has succeeded; null while they do.
  failing_since timestamptz(3),
  last_error text,
  -- Raised by every change that a sender has to know of.
  version bigint not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (account, fingerprint),
  check ((previous_secret is null) = (previous_until is null)),
  check ((disabled_at is null) = (disabled_reason is null))
);

-- The last sequence of each account.
create table event_heads (
  account text primary key,
  last bigint not null check (last > 0)
);

-- What was told, in the order in which it can be read: who has seen one sequence has seen all before it.
create table events (
  account text not null,
  sequence bigint not null,
  id text not null unique,
  type text not null,
  -- The resource, and the place of this among all that was told of it, from 1.
  object text not null,
  object_sequence bigint not null,
  test boolean not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  primary key (account, sequence),
  unique (object, object_sequence)
);

-- One row per attempt. The one that is still to come, or under way, is pending. Each is written from the row of its event,
-- which is never deleted; to have that checked again for every row would cost a third of spreading.
create table deliveries (
  id bigint generated always as identity primary key,
  endpoint text not null references webhook_endpoints on delete cascade,
  account text not null,
  sequence bigint not null,
  attempt integer not null check (attempt > 0),
  -- No further one follows it: a ping, the last of the schedule.
  is_last boolean not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'dead', 'refused')),
  due_at timestamptz(3),
  lease_until timestamptz(3),
  epoch bigint,
  -- Times it was begun. More than one: the outcome of the others is not known.
  begun integer not null default 0,
  status integer,
  latency_ms integer,
  fault text,
  response text,
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  check ((state = 'pending') = (due_at is not null))
) with (fillfactor = 70);
-- First attempts and repeats wait apart: repeats are let out at a rate, and hold up no news.
create index deliveries_first on deliveries (endpoint, due_at, id) where state = 'pending' and attempt = 1;
create index deliveries_again on deliveries (endpoint, due_at, id) where state = 'pending' and attempt > 1;
create index deliveries_log on deliveries (endpoint, id desc);
create index deliveries_of_event on deliveries (account, sequence);
