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
create trigger sends_are_append_only before update or delete on sends for each row execute function refuse_change();
create trigger sends_are_never_emptied before truncate on sends for each statement execute function refuse_change();

-- What is to leave the house, written in the transaction that decided it, before the effect.
-- due_at is when somebody must look next; while an attempt is under way (sending) it stays, and lease_until says when its
-- sender is taken for lost. So taking a row changes no index; the room left on each page is for the row's new version.
create table outbox (
  id bigint generated always as identity primary key,
  resource text not null,
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
  -- A row that is lost to the sender would be a mail that is lost in silence.
  constraint state_fits_due_at check (
    case state when 'queued' then due_at is not null when 'sending' then due_at is not null else
      state = 'unknown' or (state in ('sent', 'failed') and due_at is null) end
  )
) with (fillfactor = 50);
create index outbox_due on outbox (channel, due_at, id) where due_at is not null;

-- in_blobs  [{sha256, bytes, start}], `start` being the offset of the blob's bytes in in_content.
create function put_blobs(in_blobs json, in_content bytea) returns void
language plpgsql
as $$
#variable_conflict use_column
begin
  -- In the order of their hashes, so that two writers of the same blobs never wait in a circle.
  with given as materialized (
    select distinct on (b.sha256) decode(b.sha256, 'hex') as sha256, b.bytes, b.start
    from json_to_recordset(in_blobs) as b(sha256 text, bytes bigint, start bigint)
    order by b.sha256
  ),
  made as (
    insert into blobs (sha256, bytes)
    select g.sha256, g.bytes from given g
    order by g.sha256
    on conflict do nothing
    returning sha256
  )
  insert into blob_chunks (sha256, n, content)
  select g.sha256, n, substring(in_content from (g.start + n * 262144 + 1)::integer
    for least(262144, g.bytes - n * 262144)::integer)
  from made m
  join given g on g.sha256 = m.sha256,
  generate_series(0, (g.bytes + 262143) / 262144 - 1) as n;
end
$$;

-- Freezes sends: the bytes, the send and the mail that tells of it, all or nothing. What is frozen stays as it is.
--   in_sends  [{resource, n, at, gate, frozen, sha256, bytes, mail: {purpose, channel, messageId, payload} | null}]
-- in_blobs and in_content as for put_blobs. Gives the sends that are new.
create function freeze_sends(in_lease text, in_epoch bigint, in_sends json, in_blobs json, in_content bytea)
returns table (resource text, n integer)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  perform put_blobs(in_blobs, in_content);

  return query
  with given as materialized (
    select s.*
    from json_to_recordset(in_sends) as s(
      resource text, n integer, at timestamptz(3), gate text, frozen jsonb, sha256 text, bytes bigint, mail json
    )
  ),
  frozen as (
    insert into sends (resource, n, at, gate, frozen, sha256, bytes)
    select g.resource, g.n, g.at, g.gate, g.frozen, decode(g.sha256, 'hex'), g.bytes
    from given g
    order by g.resource, g.n
    on conflict do nothing
    returning resource, n
  ),
  queued as (
    insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
    select g.resource, g.mail ->> 'purpose', g.mail ->> 'channel', g.mail ->> 'messageId',
      (g.mail -> 'payload')::jsonb, g.at, g.at
    from given g
    join frozen f on f.resource = g.resource and f.n = g.n
    where g.mail ->> 'purpose' is not null
    order by g.resource, g.n
    on conflict (resource, purpose) do nothing
  )
  select f.resource, f.n from frozen f;
end
$$;

-- All that the ledger knows of some resources, in one read: one row per resource asked for. Of the sends only the
-- newest carries what was frozen: a document that was sent fifty times would be megabytes in every pass.
create function observe_resources(in_resources text[])
returns table (resource text, record json, sends json, facts json, deliveries json)
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return query
  select a.resource,
    (
      select json_build_object(
        'number', r.number, 'seriesId', r.series_id, 'seq', r.seq, 'kind', r.kind, 'issuedAt', iso_ms(r.issued_at),
        'uid', r.uid, 'claimed', r.claimed
      )
      from register r where r.resource = a.resource
    ),
    (
      select json_agg(json_build_object(
        'n', s.n, 'at', iso_ms(s.at), 'gate', s.gate, 'sha256', encode(s.sha256, 'hex'), 'bytes', s.bytes,
        'frozen', case when s.newest then s.frozen end
      ) order by s.n)
      from (
        select s.*, lead(s.n) over (order by s.n) is null as newest from sends s where s.resource = a.resource
      ) s
    ),
    (
      select json_agg(json_build_object(
        'seq', f.seq, 'key', f.key, 'kind', f.kind, 'body', f.body, 'state', f.state, 'refusedCode', f.refused_code,
        'at', iso_ms(f.at)
      ) order by f.seq)
      from facts f where f.resource = a.resource
    ),
    (
      select json_agg(json_build_object(
        'purpose', o.purpose, 'attempts', o.attempts, 'lastError', o.last_error,
        'state', case
          when o.state in ('sent', 'failed') then o.state
          when o.unknowns > 0 then 'unknown'
          else 'queued'
        end
      ) order by o.id)
      from outbox o where o.resource = a.resource and o.channel = 'mail'
    )
  from unnest(in_resources) as a(resource);
end
$$;
