-- Reserves a name, or settles it for good (in_settle): 'taken'; 'held', by the same site; 'refused', for it is another site's; or
-- 'kept', for it was another account's until lately.
create or replace function claim_site_name(in_name text, in_site text, in_account text, in_settle boolean) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  perform lock_site_name(in_name);
  if strpos(in_name, '.') = 0 then
    return take_site_label(in_name, in_site, in_account, in_settle);
  end if;
  return take_site_domain(in_name, in_site, in_account, in_settle);
end
$$;
