-- Over REST a deletion is asked for: it is on record before the cluster is asked, so that whoever leads later knows it for one.
create or replace function ask_deletion(in_kind text, in_names text[], in_uids text[]) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  insert into deletions (kind, name, uid, asked_at)
  select in_kind, k.name, k.uid, now() from unnest(in_names, in_uids) as k(name, uid) order by k.name, k.uid
  on conflict (kind, name, uid) do update set asked_at = now() where deletions.seen_at is null;
end;
