-- The request was refused: its place is free again, unless the site is there after all.
create or replace function give_back_site_place(in_site text) returns boolean
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  with freed as (
    delete from site_places p
    where p.site = in_site and not has_come('Site', in_site)
    returning 1
  )
  select exists (select from freed);
end;
