-- What could not be done however often it was tried, through a fault of its own: set aside alone, so that nothing waits
-- behind it, until an administrator releases it (rules/platform.md#quarantine).
create table quarantine (
  id bigint generated always as identity primary key,
  -- A row of the outbox, by its channel (mail, card, event), or of deliveries.
  source text not null check (source in ('mail', 'card', 'event', 'delivery')),
  source_id bigint not null,
  -- Whom it is about.
  kind text not null,
  resource text not null,
  account text,
  reason text not null,
  tries integer not null,
  at timestamptz(3) not null,
  released_at timestamptz(3),
  released_by text,
  check ((released_at is null) = (released_by is null))
);
-- It is set aside once, however often that is said.
create unique index quarantine_held on quarantine (source, source_id) where released_at is null;
create index quarantine_listed on quarantine (id desc) where released_at is null;
