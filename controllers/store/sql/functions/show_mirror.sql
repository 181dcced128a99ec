-- What was asked is in the next GET and the next list, before anybody has judged it: a row that stands until the first
-- verdict takes its place (put_mirror), with observed_generation 0. One that is there already is left as it is, but for an
-- unjudged one, which the controllers may know more of. No lease: it says only what is asked, and gives way to every verdict.
create or replace function show_mirror(in_row json, in_replace boolean) returns table (name text)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  shown text;
begin
  insert into mirror as m
    (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at, status, client_email,
      external_ref, issuer_id)
  select r.kind, r.name, r.account, r.uid, r.generation, 0, r.view, r."createdAt", r."updatedAt",
    r.view ->> 'status', r.view ->> 'client_email', r.view ->> 'external_ref', r.view ->> 'issuer_id'
  from json_to_record(in_row) as r(
    kind text, name text, account text, uid text, generation bigint, view json,
    "createdAt" timestamptz(3), "updatedAt" timestamptz(3)
  )
  on conflict (kind, name) do update set
    generation = excluded.generation, view = excluded.view, updated_at = excluded.updated_at, status = excluded.status,
    client_email = excluded.client_email, external_ref = excluded.external_ref, issuer_id = excluded.issuer_id
  where in_replace and m.observed_generation = 0 and m.uid = excluded.uid and not m.archived
    and m.generation <= excluded.generation and m.view::text <> excluded.view::text
  returning m.kind || '/' || m.name into shown;
  if shown is null then
    return;
  end if;
  perform tell_mirror(array[shown]);
  return query select substring(shown from position('/' in shown) + 1);
end
$$;
