-- Whose rows are whose. An account's rows name it by a key; a key is one account for ever, whatever its resource is called
-- and whenever that is made again. The first account of a name has the name as its key, so that rows of before stay what they
-- were. One that is made under a name which another had gets a key that no resource can be named by: <name>..<n>.
create table account_lives (
  n bigint generated always as identity unique,
  -- Of the Account's resource.
  uid text primary key,
  name text not null check (name <> ''),
  key text not null check (key <> ''),
  -- What it has where it continues nobody.
  own_key text not null,
  -- Address of the owner, as last seen.
  email text not null,
  -- The uid that the resource says it continues, as last decided on; null: none.
  asked text,
  seen_at timestamptz(3) not null,
  -- Its deletion was seen.
  ended_at timestamptz(3)
);
create index account_lives_of_key on account_lives (key, n);
create index account_lives_of_name on account_lives (name, n);

-- A place under the account's cap of sends of one day (UTC), taken before the send is asked for. One per send for ever,
-- so a repeat is free. `day` is fixed when it is taken.
create table send_slots (
  resource text not null,
  n integer not null,
  account text not null,
  day date not null,
  taken_at timestamptz(3) not null default now(),
  primary key (resource, n)
);
create index send_slots_of_day on send_slots (account, day);

-- How many places are taken: one row to lock for all who want one of the same account.
create table send_days (
  account text not null,
  day date not null,
  used integer not null,
  primary key (account, day)
) with (fillfactor = 40);

-- A place under an account's questions to a language model on one day (UTC), taken before the model is asked. Each pool has
-- a count of its own: invoices, websites. A question that failed gives its place back; one whose process died has its place
-- lapse, for it was never answered.
create table ai_places (
  id uuid primary key,
  account text not null,
  pool text not null,
  day date not null,
  answered boolean not null default false,
  taken_at timestamptz(3) not null default now()
);
create index ai_places_of_day on ai_places (account, pool, day);
