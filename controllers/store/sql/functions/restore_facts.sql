-- Writes what an older copy of the database has lost of a resource, as far as its status knows of it. The first of them stands at
-- in_least_seq or later: the status has folded that many facts. in_facts [{key, kind, body, outcome}]; what stands there under its key
-- stays as it is, so it may be repeated. Gives how many are new.
create or replace function restore_facts(
  in_lease text, in_epoch bigint, in_resource text, in_resource_kind text, in_least_seq bigint, in_facts json, in_at timestamptz(3)
) returns bigint
language plpgsql
as $$
declare
  fresh bigint;
begin
  perform fence(in_lease, in_epoch);
  perform pg_advisory_xact_lock(hashtextextended(in_resource, 0));
  with given as (
    select g.*
    from rows from (json_to_recordset(in_facts) as (key text, kind text, body jsonb, outcome jsonb)) with ordinality
      as g(key, kind, body, outcome, place)
    where not exists (select from facts f where f.resource = in_resource and f.key = g.key)
  ),
  entered as (
    insert into facts (resource, resource_kind, seq, key, kind, body, outcome, written_by, state, at, decided_at)
    select in_resource, in_resource_kind,
      greatest(
        in_least_seq - 1, coalesce((select max(f.seq) from facts f where f.resource = in_resource), 0)
      ) + row_number() over (order by g.place),
      g.key, g.kind, g.body, g.outcome, 'controller', 'accepted', in_at, in_at
    from given g
    returning 1
  )
  select count(*) into fresh from entered;
  return fresh;
end
$$;
