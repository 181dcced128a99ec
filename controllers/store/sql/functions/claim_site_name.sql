-- Reserves a name, or settles it for good (in_settle): 'taken', 'held', 'refused'. One statement decides: the key does.
create or replace function claim_site_name(in_name text, in_site text, in_account text, in_settle boolean) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  until timestamptz := case when in_settle then null else now() + interval '2 minutes' end;
  held record;
begin
  insert into site_names (name, site, account, reserved_until) values (in_name, in_site, in_account, until)
  on conflict do nothing;
  if found then
    return 'taken';
  end if;
  select * into held from site_names n where n.name = in_name for update;
  if held is null then
    return claim_site_name(in_name, in_site, in_account, in_settle);
  end if;
  if held.site <> in_site and (held.reserved_until is null or held.reserved_until > now()) then
    return 'refused';
  end if;
  update site_names n
  set site = in_site, account = in_account,
    reserved_until = case when held.site = in_site and held.reserved_until is null then null else until end
  where n.name = in_name;
  return case when held.site = in_site then 'held' else 'taken' end;
end
$$;
