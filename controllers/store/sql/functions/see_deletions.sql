-- in_gone  [{kind, name, uid, generation, how}]: a fact each, written once. Without uid it is that of the newest desire.
create or replace function see_deletions(in_lease text, in_epoch bigint, in_gone json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into deletions as x (kind, name, uid, generation, how, seen_at)
  select g.kind, g.name, coalesce(g.uid, d.uid), coalesce(g.generation, d.generation), g.how, now()
  from json_to_recordset(in_gone) as g(kind text, name text, uid text, generation bigint, how text)
  left join desires d on d.kind = g.kind and d.name = g.name
  where coalesce(g.uid, d.uid) is not null
  order by 1, 2, 3
  on conflict (kind, name, uid) do update set
    generation = excluded.generation, how = excluded.how, seen_at = excluded.seen_at
  where x.seen_at is null;
end
$$;
