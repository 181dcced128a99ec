-- The first to come has the name. in_claims  [{name, account, uid}]; gives for each name the namespace that has it.
create or replace function claim_places(in_kind text, in_namespace text, in_claims json)
returns table (name text, namespace text)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  insert into places as p (kind, name, namespace, account, uid)
  select in_kind, c.name, in_namespace, c.account, c.uid
  from json_to_recordset(in_claims) as c(name text, account text, uid text)
  order by c.name
  on conflict (kind, name) do update set account = excluded.account, uid = excluded.uid
  where p.namespace = excluded.namespace and excluded.uid <> '' and p.uid <> excluded.uid;
  return query
    select p.name, p.namespace
    from json_to_recordset(in_claims) as c(name text)
    join places p on p.kind = in_kind and p.name = c.name;
end
$$;
