-- Whether the resource of this uid was deleted, as far as anybody has seen or asked for it.
create or replace function is_deleted(in_kind text, in_name text, in_uid text) returns boolean
language sql stable
return exists (select from deletions x where x.kind = in_kind and x.name = in_name and x.uid = in_uid);
