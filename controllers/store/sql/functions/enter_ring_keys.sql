-- Something is about to be sealed under these keys: from now on they are needed.
create or replace function enter_ring_keys(in_ids text[]) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  insert into ring_keys as k (id) select distinct i.id from unnest(in_ids) as i(id) order by 1
  on conflict (id) do update set cleared_at = null, entered_at = now() where k.cleared_at is not null;
end;
