-- A resource is gone: its row too, unless it is archived. Gives what was removed.
create or replace function remove_mirror(in_lease text, in_epoch bigint, in_kind text, in_name text) returns table (name text)
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
