-- in_facts  [{resource, resourceKind, key, kind, body, writtenBy, state, at, event?}]; gives the row that stands under each
-- key, once each.
create or replace function append_facts(in_lease text, in_epoch bigint, in_facts json)
returns table (
  resource text, seq bigint, key text, kind text, body jsonb, state text, refused_code text, at text, fresh boolean
)
language plpgsql
as $$
#variable_conflict use_column
begin
  if in_epoch is not null then
    perform fence(in_lease, in_epoch);
  elsif exists (
    select from json_to_recordset(in_facts) as f("writtenBy" text) where f."writtenBy" is distinct from 'api'
  ) then
    raise exception 'a controller''s fact needs an epoch' using errcode = 'BT001';
  end if;

  -- One writer at a time per resource, or two would take the same seq; in one order, so that nobody waits in a circle.
  perform pg_advisory_xact_lock(l.key)
  from (
    select distinct hashtextextended(f.resource, 0) as key from json_to_recordset(in_facts) as f(resource text)
    order by 1
  ) l;

  return query
  with given as materialized (
    select g.*
    from rows from (
      json_to_recordset(in_facts) as (
        resource text, "resourceKind" text, key text, kind text, body jsonb, "writtenBy" text, state text,
        at timestamptz(3), event json
      )
    ) with ordinality as g(resource, resource_kind, key, kind, body, written_by, state, at, event, place)
  ),
  held as materialized (
    select f.*
    from (select distinct g.resource, g.key from given g) g,
    lateral (select * from facts f where f.resource = g.resource and f.key = g.key limit 1) f
  ),
  fresh as materialized (
    select n.*, row_number() over (partition by n.resource order by n.place) + coalesce(
      (select max(f.seq) from facts f where f.resource = n.resource), 0
    ) as seq
    from (
      select distinct on (g.resource, g.key) g.*
      from given g
      where not exists (select from held h where h.resource = g.resource and h.key = g.key)
      order by g.resource, g.key, g.place
    ) n
  ),
  entered as (
    insert into facts (resource, resource_kind, seq, key, kind, body, written_by, state, at, decided_at)
    select n.resource, n.resource_kind, n.seq, n.key, n.kind, n.body, n.written_by, n.state, n.at,
      case when n.state <> 'pending' then n.at end
    from fresh n
  ),
  told as materialized (
    select tell_event(n.resource, n.key, n.event, n.at) from fresh n where n.event is not null and n.state = 'accepted'
  )
  select h.resource, h.seq, h.key, h.kind, h.body, h.state, h.refused_code, iso_ms(h.at), false from held h
  union all
  select n.resource, n.seq, n.key, n.kind, n.body, n.state, null, iso_ms(n.at), true from fresh n
  union all
  -- A part of a statement that nobody reads is not run.
  select null, count(*), null, null, null, null, null, null, null from told having count(*) < 0;
end
$$;
