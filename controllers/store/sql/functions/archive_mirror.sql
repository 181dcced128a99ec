-- Keeps (or no longer keeps) the last view of a resource that leaves the cluster.
create or replace function archive_mirror(in_lease text, in_epoch bigint, in_kind text, in_name text, in_archived boolean)
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
