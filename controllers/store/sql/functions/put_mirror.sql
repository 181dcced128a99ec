-- in_rows  [{kind, name, account, uid, generation, observedGeneration, view, createdAt, updatedAt, desire, isLost}], each key
--          once. With `desire` what was asked is kept in the same transaction (put_desires). `isLost`: there is no resource,
--          so a view that was archived stays archived.
-- Writes what differs and nothing else; a view of an older generation never replaces a newer one's. Gives what changed.
create or replace function put_mirror(in_lease text, in_epoch bigint, in_rows json)
returns table (kind text, name text)
language plpgsql
as $$
#variable_conflict use_column
declare
  changed text[];
begin
  perform fence(in_lease, in_epoch);
  -- A view is told before it is on disk: whoever answers by it writes the audit behind it, and a commit on disk has all before it there.
  -- After a crash of the database what is missing is written again (workers/lost/again.ts, hack/decisions/046).
  set local synchronous_commit = off;
  if strpos(in_rows::text, '"desire"') > 0 then
    perform put_desires(in_rows);
  end if;
  with written as (
    insert into mirror as m
      (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at, archived,
        status, client_email, external_ref, issuer_id)
    select r.kind, r.name, r.account, r.uid, r.generation, r."observedGeneration", r.view, r."createdAt", r."updatedAt",
      case when r."isLost" then
        -- with the limit a look-up by key, as in observe_invoices
        coalesce((
          select o.archived from mirror o where o.kind = r.kind and o.name = r.name and o.uid = r.uid limit 1
        ), false)
      else false end,
      v.status, v.client_email, v.external_ref, v.issuer_id
    from json_to_recordset(in_rows) as r(
      kind text, name text, account text, uid text, generation bigint, "observedGeneration" bigint, view json,
      "createdAt" timestamptz(3), "updatedAt" timestamptz(3), "isLost" boolean
    )
    -- a view is parsed once for all four: each ->> would parse it again
    cross join lateral json_to_record(r.view) as v(status text, client_email text, external_ref text, issuer_id text)
    order by r.kind, r.name
    on conflict (kind, name) do update set
      account = excluded.account, uid = excluded.uid, generation = excluded.generation,
      observed_generation = excluded.observed_generation, view = excluded.view, created_at = excluded.created_at,
      updated_at = excluded.updated_at, archived = excluded.archived, status = excluded.status,
      client_email = excluded.client_email, external_ref = excluded.external_ref, issuer_id = excluded.issuer_id
    where (m.account, m.uid, m.generation, m.observed_generation, m.view::text, m.archived) is distinct from
        (excluded.account, excluded.uid, excluded.generation, excluded.observed_generation, excluded.view::text, excluded.archived)
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
