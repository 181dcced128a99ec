-- in_plans  [{kind, resource, rows: [{purpose, dueAt, lapsesAt, generation, factSeq, effect}]}], each resource once: its rows
-- are these and no others.
create or replace function put_schedule(in_lease text, in_epoch bigint, in_plans json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  -- an array, for a join would read all that is due for each plan
  delete from schedule s
  where s.resource = any (array(select p.resource from json_to_recordset(in_plans) as p(resource text)))
    and not exists (
      select from json_to_recordset(in_plans) as p(resource text, rows json), json_to_recordset(p.rows) as r(purpose text)
      where p.resource = s.resource and r.purpose = s.purpose
    );
  insert into schedule (kind, resource, purpose, due_at, lapses_at, generation, fact_seq, effect)
  select p.kind, p.resource, r.purpose, r."dueAt", r."lapsesAt", r.generation, r."factSeq",
    nullif(r.effect, 'null'::jsonb)
  from json_to_recordset(in_plans) as p(kind text, resource text, rows json),
  lateral json_to_recordset(p.rows) as r(
    purpose text, "dueAt" timestamptz(3), "lapsesAt" timestamptz(3), generation bigint, "factSeq" bigint, effect jsonb
  )
  order by p.resource, r.purpose
  on conflict (resource, purpose) do update set
    due_at = excluded.due_at, lapses_at = excluded.lapses_at, generation = excluded.generation,
    fact_seq = excluded.fact_seq, effect = excluded.effect, looked_at = null;
end
$$;
