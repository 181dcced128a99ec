-- Reserves a name, or settles it for good (in_settle): 'taken'; 'held', by the same site; 'refused', for it is another site's; or
-- 'kept', for it was another account's until lately. in_twin, the domain with or without its www, comes along and is looked for at once,
-- unless some site of the account has it; null for none.
create or replace function claim_site_name(in_name text, in_site text, in_account text, in_settle boolean, in_twin text)
returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  outcome text;
begin
  perform lock_site_name(in_name);
  if strpos(in_name, '.') = 0 then
    return take_site_label(in_name, in_site, in_account, in_settle);
  end if;
  outcome := take_site_domain(in_name, in_site, in_account, in_settle);
  if outcome in ('taken', 'held') and in_twin is not null then
    perform lock_site_name(in_twin);
    insert into site_names (name, site, account, state, asked_at, changed_at, due_at, spare)
    values (in_twin, in_site, in_account, 'asked', platform_now(), platform_now(), platform_now(), true)
    on conflict (name, account) do nothing;
  end if;
  return outcome;
end
$$;
