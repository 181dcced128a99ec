-- Who invoices: the seller's identity as it is now. What stood on a document is frozen with its send.
-- Several per account: each with a prefix that no other of the account has, a register of its own, and a logo.
-- One that is archived invoices no more, but its documents still need its zone and its prefix: rows are never deleted.
create table issuers (
  account text not null check (account <> ''),
  id text not null check (id <> ''),
  profile jsonb not null,
  updated_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  archived_at timestamptz(3),
  -- {sha256, width, height} of the picture as it was made for documents.
  logo jsonb,
  prefix text not null generated always as (coalesce(profile ->> 'numberPrefix', 'INV')) stored,
  primary key (account, id)
);
create unique index issuer_prefix_once on issuers (account, prefix);

-- Pictures that somebody sent and nobody looked into yet, and what became of the last ones. seq counts through all accounts.
create table issuer_logos (
  seq bigint generated always as identity primary key,
  account text not null,
  issuer text not null,
  -- sha256 of the bytes as they were sent, which lie among the blobs.
  source text not null,
  state text not null default 'pending',
  -- How often somebody began to decode it: what takes the process down is not tried for ever.
  tries integer not null default 0,
  reason text,
  asked_at timestamptz(3) not null,
  foreign key (account, issuer) references issuers (account, id),
  constraint logo_is_sound check (
    state in ('pending', 'taken', 'refused') and (state = 'refused') = (reason is not null)
  )
);
create index issuer_logos_of on issuer_logos (account, issuer, seq);
create index issuer_logos_open on issuer_logos (account, seq) where state = 'pending';
