-- The cluster refused it for certain, or the resource is still there long after: it was not deleted.
create or replace function take_back_deletion(in_kind text, in_name text, in_uid text) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  delete from deletions x where x.kind = in_kind and x.name = in_name and x.uid = in_uid and x.seen_at is null;
end;
