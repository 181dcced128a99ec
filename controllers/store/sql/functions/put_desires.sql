-- in_rows  as for put_mirror; of those with a desire {labels, annotations, spec} it is kept. A generation that is kept
-- already stays as it is, an older one does not come back; the one before goes into the history. A resource goes on as the
-- one before it under its name as origins_of says.
create or replace function put_desires(in_rows json) returns void
language plpgsql
as $$
begin
  with given as materialized (
    select r.kind, r.name, r.account, r.uid, r.generation, r.desire,
      coalesce(d.origin, r.uid) as origin, coalesce(d.created_at, r."createdAt") as created_at
    from json_to_recordset(in_rows) as r(
      kind text, name text, account text, uid text, generation bigint, "createdAt" timestamptz(3), desire json
    )
    -- the limits keep these look-ups by key: a join would read all desires for each view
    left join lateral (
      select d.origin, d.created_at from desires d
      where d.kind = r.kind and d.name = r.name
        and (d.uid = r.uid or d.account = r.account and not is_deleted(d.kind, d.name, d.uid))
      limit 1
    ) d on true
    where r.desire is not null
  ), before as (
    insert into desire_history (kind, name, uid, generation, account, metadata, spec, recorded_at)
    select d.kind, d.name, d.uid, d.generation, d.account, d.metadata, d.spec, d.recorded_at
    from given g
    cross join lateral (select d.* from desires d where d.kind = g.kind and d.name = g.name limit 1) d
    where d.uid <> g.uid or d.generation < g.generation
    on conflict do nothing
  )
  insert into desires as d (kind, name, uid, origin, generation, account, created_at, metadata, spec)
  select g.kind, g.name, g.uid, g.origin, g.generation, g.account, g.created_at,
    json_build_object('labels', g.desire -> 'labels', 'annotations', g.desire -> 'annotations')::jsonb, g.desire -> 'spec'
  from given g
  order by g.kind, g.name
  on conflict (kind, name) do update set
    uid = excluded.uid, origin = excluded.origin, generation = excluded.generation, account = excluded.account,
    created_at = excluded.created_at, metadata = excluded.metadata, spec = excluded.spec, recorded_at = now()
  where d.uid <> excluded.uid or d.generation < excluded.generation;
end
$$;
