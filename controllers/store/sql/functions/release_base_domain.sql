-- An account gives its base domain back: 'given'; 'live' where a site or an app is served below it; 'none' where it has none.
create or replace function release_base_domain(in_domain text, in_account text) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  base text := '*.' || in_domain;
  own site_names;
begin
  perform lock_site_name(base);
  select * into own from site_names n where n.name = base and n.account = in_account and n.state <> 'quarantined';
  if own is null then
    return 'none';
  end if;
  if exists (
    select from site_names s
    join host_routes r on r.owner = case when starts_with(s.site, 'App/') then s.site else 'Site/' || s.site end
    where s.account = in_account and s.root = own.root and s.proof = 'base' and names_overlap(s.name, base)
      and s.name = any (r.hostnames)
  ) then
    return 'live';
  end if;
  if own.until > platform_now() then
    update site_names n set state = 'quarantined', due_at = null, reason = null, changed_at = platform_now()
    where n.name = base and n.account = in_account;
  else
    delete from site_names n where n.name = base and n.account = in_account;
  end if;
  perform follow_base_domain(base, in_account, platform_now());
  return 'given';
end
$$;
