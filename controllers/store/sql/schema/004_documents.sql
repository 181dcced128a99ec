-- Bytes under their own sha256, in chunks, so that no value and no message gets large. What they are is known to the
-- row that names them. Rows come from put_blobs alone. Few checks here and below: a statement compiles each of its table's
-- anew, and on the way of every invoice they cost more than the rows.
create table blobs (
  sha256 bytea primary key,
  bytes bigint not null,
  created_at timestamptz(3) not null default now()
);

create table blob_chunks (
  sha256 bytea not null,
  n integer not null,
  content bytea not null,
  primary key (sha256, n)
);
alter table blob_chunks alter column content set storage external; -- a PDF is compressed already

-- One row per send of a document: what stood on it then, and the bytes that were made of it.
create table sends (
  resource text not null,
  n integer not null,
  at timestamptz(3) not null,
  gate text not null,
  frozen jsonb not null,
  sha256 bytea not null references blobs,
  bytes bigint not null,
  primary key (resource, n),
  constraint send_is_sound check (resource <> '' and n > 0 and gate in ('account', 'password') and bytes > 0)
);
-- Which bytes are still named is asked when a test is purged.
create index sends_by_bytes on sends (sha256);

-- Documents that follow from what happened rather than from a send: an invoice stamped PAID or VOID, its credit notes.
-- The fact that stands beside each (snapshot:<id>) tells of it; here is what stood on it.
create table snapshots (
  resource text not null,
  id text not null,
  at timestamptz(3) not null,
  frozen jsonb not null,
  sha256 bytea not null references blobs,
  bytes bigint not null,
  primary key (resource, id),
  constraint snapshot_is_sound check (resource <> '' and id <> '' and bytes > 0)
);
create index snapshots_by_bytes on snapshots (sha256);
