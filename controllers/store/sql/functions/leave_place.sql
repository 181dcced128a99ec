-- This very resource was seen to go; what was only reserved goes with it.
create or replace function leave_place(in_kind text, in_name text, in_namespace text, in_uid text) returns void
language sql
begin atomic
  delete from places p
  where p.kind = in_kind and p.name = in_name and p.namespace = in_namespace and p.uid in (in_uid, '');
end;
