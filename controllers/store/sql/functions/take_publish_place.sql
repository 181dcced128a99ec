-- 'taken', 'held', 'refused', as for sends. Nobody else's publish of the account is counted meanwhile.
create or replace function take_publish_place(in_site text, in_digest text, in_account text, in_day date, in_limit integer)
returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  if exists (select from publish_places p where p.site = in_site and p.digest = in_digest) then
    return 'held';
  end if;
  perform account_lock('publish_places', in_account);
  if (select count(*) from publish_places p where p.account = in_account and p.day = in_day) >= in_limit then
    return 'refused';
  end if;
  insert into publish_places (site, digest, account, day) values (in_site, in_digest, in_account, in_day)
  on conflict do nothing;
  return 'taken';
end
$$;
