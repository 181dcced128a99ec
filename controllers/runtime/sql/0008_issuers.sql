-- Who invoices: the seller's identity as it is now. What stood on a document is frozen with its send.
-- An account's default issuer has no row until its profile is first changed.
create table issuers (
  account text not null check (account <> ''),
  id text not null check (id <> ''),
  profile jsonb not null,
  updated_at timestamptz(3) not null default now(),
  primary key (account, id)
);
