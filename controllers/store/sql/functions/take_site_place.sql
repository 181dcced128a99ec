-- 'taken', 'held' (it was before), 'refused'. Places of sites that never came lapse.
create or replace function take_site_place(in_site text, in_account text, in_limit integer) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  if exists (select from site_places p where p.site = in_site) then
    return 'held';
  end if;
  perform account_lock('site_places', in_account);
  delete from site_places p
  where p.account = in_account and p.taken_at < now() - interval '10 minutes'
    and not has_come('Site', p.site);
  if (select count(*) from site_places p where p.account = in_account) >= in_limit then
    return 'refused';
  end if;
  insert into site_places (site, account) values (in_site, in_account) on conflict do nothing;
  return 'taken';
end
$$;
