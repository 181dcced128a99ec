-- A label below a base domain: the first who asks has it. One that was given back is kept for its last account.
create or replace function take_site_label(in_name text, in_site text, in_account text, in_settle boolean) returns text
language plpgsql
as $$
declare
  lapses timestamptz := case when in_settle then null else now() + interval '2 minutes' end;
  held site_names;
  is_own boolean;
begin
  select * into held from site_names n where n.name = in_name;
  if held is null then
    insert into site_names (name, site, account, reserved_until, state, proof, asked_at, changed_at)
    values (in_name, in_site, in_account, lapses, 'verified', 'platform', platform_now(), platform_now());
    return 'taken';
  end if;
  -- what only leads to a site of the account gives way
  is_own := held.account = in_account and (held.site = in_site or held.spare) and held.state = 'verified';
  if not is_own and held.state = 'verified' and (held.reserved_until is null or held.reserved_until > now()) then
    return 'refused';
  end if;
  if held.account <> in_account and held.until > platform_now() then
    return 'kept';
  end if;
  perform yield_site_name(held, in_site);
  update site_names n
  set site = in_site, spare = false, account = in_account, state = 'verified', proof = 'platform', changed_at = platform_now(),
    -- who reserves and never comes gives nothing away that was kept
    until = case when in_settle then null else held.until end,
    reserved_until = case when is_own and held.site = in_site and held.reserved_until is null then null else lapses end
  where n.name = in_name;
  return case when is_own then 'held' else 'taken' end;
end
$$;
