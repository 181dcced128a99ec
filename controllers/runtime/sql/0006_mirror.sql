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

-- Tells who waits for these rows: JSON arrays of "kind/name", each well below the 8,000 bytes that a notification may
-- have. This is no ledger transaction (NOTIFY takes a lock on the whole instance at commit).
create function tell_mirror(in_keys text[]) returns void
language plpgsql
as $$
begin
  perform pg_notify('bottega_mirror', json_agg(p.key)::text)
  from (
    select k.key, sum(octet_length(k.key) + 8) over (order by k.key rows unbounded preceding) / 7000 as part
    from unnest(in_keys) as k(key)
  ) p
  group by p.part;
end
$$;

-- in_rows  [{kind, name, account, uid, generation, observedGeneration, view, createdAt, updatedAt}], each key once.
-- Writes what differs and nothing else; a view of an older generation never replaces a newer one's. Gives what changed.
create function put_mirror(in_lease text, in_epoch bigint, in_rows json)
returns table (kind text, name text)
language plpgsql
as $$
#variable_conflict use_column
declare
  changed text[];
begin
  perform fence(in_lease, in_epoch);
  with written as (
    insert into mirror as m
      (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at, status, client_email,
        external_ref, issuer_id)
    select r.kind, r.name, r.account, r.uid, r.generation, r."observedGeneration", r.view, r."createdAt", r."updatedAt",
      r.view ->> 'status', r.view ->> 'client_email', r.view ->> 'external_ref', r.view ->> 'issuer_id'
    from json_to_recordset(in_rows) as r(
      kind text, name text, account text, uid text, generation bigint, "observedGeneration" bigint, view json,
      "createdAt" timestamptz(3), "updatedAt" timestamptz(3)
    )
    order by r.kind, r.name
    on conflict (kind, name) do update set
      account = excluded.account, uid = excluded.uid, generation = excluded.generation,
      observed_generation = excluded.observed_generation, view = excluded.view, created_at = excluded.created_at,
      updated_at = excluded.updated_at, archived = false, status = excluded.status,
      client_email = excluded.client_email, external_ref = excluded.external_ref, issuer_id = excluded.issuer_id
    where (m.account, m.uid, m.generation, m.observed_generation, m.view::text, m.archived) is distinct from
        (excluded.account, excluded.uid, excluded.generation, excluded.observed_generation, excluded.view::text, false)
      and (m.uid <> excluded.uid or m.generation <= excluded.generation)
    returning m.kind, m.name
  )
  select array_agg(w.kind || '/' || w.name) into changed from written w;
  if changed is not null then
    perform tell_mirror(changed);
  end if;
  return query
  select split_part(c.key, '/', 1), substring(c.key from position('/' in c.key) + 1) from unnest(changed) as c(key);
end
$$;

-- A resource is gone: its row too, unless it is archived. Gives what was removed.
create function remove_mirror(in_lease text, in_epoch bigint, in_kind text, in_name text) returns table (name text)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  delete from mirror m where m.kind = in_kind and m.name = in_name and not m.archived;
  if not found then
    return;
  end if;
  perform tell_mirror(array[in_kind || '/' || in_name]);
  return query select in_name;
end
$$;

-- Keeps (or no longer keeps) the last view of a resource that leaves the cluster.
create function archive_mirror(in_lease text, in_epoch bigint, in_kind text, in_name text, in_archived boolean)
returns table (name text)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  return query
  update mirror m set archived = in_archived
  where m.kind = in_kind and m.name = in_name
  returning m.name;
end
$$;
