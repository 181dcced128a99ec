-- What is to leave the house, written in the transaction that decided it, before the effect.
-- due_at is when somebody must look next; while an attempt is under way (sending) it stays, and lease_until says when its
-- sender is taken for lost. So taking a row changes no index; the room left on each page is for the row's new version.
create table outbox (
  id bigint generated always as identity primary key,
  -- Of the resource; whose it is, null where nobody knows yet (a link to sign in).
  kind text not null,
  resource text not null,
  account text,
  purpose text not null,
  channel text not null,
  -- The name under which the outside knows it, the same in every attempt (a mail's Message-ID).
  message_id text not null,
  payload jsonb not null,
  state text not null default 'queued',
  attempts integer not null default 0,
  -- Attempts of which nobody knows whether they arrived.
  unknowns integer not null default 0,
  last_error text,
  -- The epoch under which the present attempt was begun: one begun under an older epoch has nobody left to settle it.
  epoch bigint,
  lease_until timestamptz(3),
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  unique (resource, purpose),
  constraint event_is_somebodys check (channel <> 'event' or account is not null),
  -- A row that is lost to the sender would be a mail that is lost in silence. A mail that the recipient's own server refuses
  -- for good (bounced) is apart from one that we gave up (failed).
  constraint state_fits_due_at check (
    case state when 'queued' then due_at is not null when 'sending' then due_at is not null else
      state = 'unknown' or (state in ('sent', 'failed', 'bounced') and due_at is null) end
  )
) with (fillfactor = 50);
create index outbox_due on outbox (channel, due_at, id) where due_at is not null;

-- What is to happen at an instant. Rows are written by the pass that wishes it, for its resource as a whole, and claimed by
-- the sweep when they are due.
create table schedule (
  kind text not null,
  resource text not null,
  purpose text not null,
  due_at timestamptz(3) not null,
  -- From here on something else is due: a pass says what.
  lapses_at timestamptz(3),
  -- What it was decided on. It holds while the spec is of this generation (which the sweep sees) and no fact has followed.
  generation bigint not null,
  fact_seq bigint not null,
  -- {fact: {key, kind, body, event?}, mail?: {kind, account, purpose, channel, messageId, payload}}: what its claim writes, in one
  -- transaction with the claim. Null: the resource is to be looked at, and the pass writes what follows.
  effect jsonb,
  -- When a pass was last asked to look; every change of the row takes it back.
  looked_at timestamptz(3),
  primary key (resource, purpose),
  constraint scheduled_is_sound check (resource <> '' and purpose <> '')
);
create index schedule_due on schedule (due_at);
