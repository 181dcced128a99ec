-- What everything is derived from (controllers/base/keys.ts), sealed under the key ring: another ring changes none of it.
create table roots (
  -- The first one is called 'first', and names things for ever.
  id text primary key check (id <> ''),
  -- Null: what the key of before was, which sealed nothing of its own; who opens it first seals it.
  sealed bytea,
  made_at timestamptz(3) not null default now(),
  -- Every process knows it before anything is made by it.
  derives_from timestamptz(3) not null default now(),
  -- From then on nothing that was made by it is believed.
  retired_at timestamptz(3),
  constraint the_first_is_made check (sealed is not null or id = 'first')
);

-- Keys of the ring under which something is sealed, or was.
create table ring_keys (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  entered_at timestamptz(3) not null default now(),
  -- Since when nothing is sealed under it; null: whoever starts has to hold it.
  cleared_at timestamptz(3)
);

-- A database of before has things that follow from its key: links, passwords, hashes of tokens.
insert into roots (id)
select 'first'
where exists (select from tokens) or exists (select from installation) or exists (select from mirror)
  or exists (select from session_keys) or exists (select from signins);
