-- Whether a resource stands under this name, or was lost: what was reserved for it is its own. Its view may be missing.
create or replace function has_come(in_kind text, in_name text) returns boolean
language sql stable
return exists (select from mirror m where m.kind = in_kind and m.name = in_name) or exists (
  select from desires d where d.kind = in_kind and d.name = in_name and not is_deleted(d.kind, d.name, d.uid)
);
