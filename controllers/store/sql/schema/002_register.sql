-- A series of numbers: first_seq..last_seq, without hole or repeat. head_hash is the hash of its last entry, or of its id.
-- Written by claim_numbers alone. No checks here: they are compiled anew for every statement, a lone claim would pay for
-- them twice, and whatever a series says stands in its entries too, where it is checked.
create table series (
  id text primary key,
  account text not null,
  -- The newest one, ready to be followed by the sequence, such as 'INV-026-'. A change of it carries the series on.
  prefix text not null,
  last_seq bigint not null default 0,
  head_hash bytea not null,
  created_at timestamptz(3) not null default now(),
  -- Where it begins: whoever comes from another system goes on with the number after their last one.
  first_seq bigint not null default 1 check (first_seq > 0)
) with (fillfactor = 40); -- one row is updated by every claim: room for the new version on the same page
create index series_of_account on series (account, id);
-- Two series with one prefix would give one number twice.
create unique index series_prefix_once on series (account, prefix);

-- Every number ever given, for ever. Each entry's hash covers the hash of the one before it (see register_entry).
-- Newlines divide what is hashed, so no field may hold one. Rows come from claim_numbers alone, which has the series
-- locked; a foreign key to it would be looked up anew for every row and cost a third of the insert.
create table register (
  series_id text not null,
  seq bigint not null,
  number text not null,
  -- What the number was given to, such as 'namespace/name'. One number per resource, whatever the series.
  resource text not null unique,
  uid text not null,
  kind text not null,
  total_cents bigint not null,
  currency text not null,
  issued_at timestamptz(3) not null,
  -- What was asked when the number was given: compared when the same resource is applied again.
  claimed jsonb not null,
  hash bytea not null,
  primary key (series_id, seq),
  constraint entry_is_sound check (
    resource <> '' and uid <> '' and strpos(resource || number, e'\n') = 0 and seq > 0 and length(hash) = 32
    and kind in ('invoice', 'credit_note') and length(currency) = 3 and strpos(currency, e'\n') = 0
    and total_cents between -9007199254740991 and 9007199254740991
  )
);
-- An external_ref stands for one invoice of its account for ever, whatever the resource is called (rules/invoice.md#one-invoice-a-reference).
-- A claim that names one says so in what it was claimed with.
create unique index register_reference on register ((claimed ->> 'account'), (claimed ->> 'externalRef'))
  where claimed ? 'externalRef';

-- The highest number of a series that a resource was seen to have while the register had not come so far. It outlives the
-- resource: whoever deletes that does not free its number.
create table known_numbers (
  account text not null,
  -- Followed by the sequence, as in series.
  prefix text not null,
  seq bigint not null,
  primary key (account, prefix)
);
