-- The last view of every resource: what GET and lists answer. It can be thrown away and rebuilt, except rows that are
-- archived: those are all that is left of a finished resource.
create table mirror (
  kind text not null,
  name text not null,
  account text not null,
  uid text not null,
  generation bigint not null,
  observed_generation bigint not null,
  -- json, not jsonb: answers keep the order in which their fields are described.
  view json not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived boolean not null default false,
  -- What lists filter by, taken from the view: one that changes in nothing of this touches no index.
  status text,
  client_email text,
  external_ref text,
  issuer_id text,
  -- Of rows created in the same second (all that the API server tells) the later one.
  place bigint generated always as identity,
  primary key (kind, name)
) with (fillfactor = 60);
-- Lists are newest first; the place breaks ties, so that pages do not overlap.
create index mirror_newest on mirror (kind, account, created_at desc, place desc);
create index mirror_status on mirror (kind, account, status, created_at desc, place desc);
create index mirror_client_email on mirror (kind, account, client_email, created_at desc, place desc)
  where client_email is not null;
create index mirror_external_ref on mirror (kind, account, external_ref)
  where external_ref is not null;
create index mirror_issuer on mirror (kind, account, issuer_id, created_at desc, place desc)
  where issuer_id is not null;
-- Only A to Z are folded: letters of other scripts that fold to these would let one address pass for another.
create index mirror_account_email on mirror (lower((view ->> 'email') collate "C"), created_at) where kind = 'Account';

-- What a person has said to be lost: its view is kept, and nobody asks again where it is. One that came back has another uid.
create table mirror_lost (
  kind text not null,
  name text not null,
  uid text not null,
  said_at timestamptz(3) not null default now(),
  primary key (kind, name)
);
