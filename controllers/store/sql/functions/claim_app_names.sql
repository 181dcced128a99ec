-- Claims domains for an app, all of them or none; gives what came of each (take_site_domain), or why nothing was claimed: 'refused',
-- another site or app of the account has it; 'others', another account holds it. in_settle: the spec names them, for good, beside
-- whoever holds them. Else somebody plans to, for seven days, within which they are looked for at once; in_strict: none that another
-- account holds.
create or replace function claim_app_names(in_app text, in_account text, in_names text[], in_settle boolean, in_strict boolean)
returns table (name text, outcome text)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  holder text := 'App/' || in_app;
  at timestamptz := platform_now();
  one text;
begin
  for one in
    select u.name from unnest(in_names) as u(name)
    order by coalesce(substring(u.name from '[^.]+[.][^.]+$'), u.name), u.name
  loop
    perform lock_site_name(one);
  end loop;
  return query
  select u.name, case when n.name is null then 'others' else 'refused' end
  from unnest(in_names) as u(name)
  left join site_names n on n.name = u.name and n.account = in_account and n.site <> holder and n.state <> 'quarantined'
    and not n.spare and (n.reserved_until is null or n.reserved_until > now())
  where n.name is not null or in_strict and is_name_held(u.name, in_account, at);
  if found and not in_settle then
    return;
  end if;
  foreach one in array in_names loop
    name := one;
    outcome := take_site_domain(one, holder, in_account, in_settle);
    if not in_settle then
      update site_names n
      set reserved_until = case when n.reserved_until is not null then now() + interval '7 days' end,
        due_at = case when n.state in ('claimed', 'asked') then coalesce(n.due_at, at) else n.due_at end,
        state = case when n.state = 'claimed' then 'asked' else n.state end
      where n.name = one and n.account = in_account and n.site = holder;
    end if;
    -- What follows a base domain has no look of its own, and nobody has seen yet where it leads.
    update site_names n set due_at = at
    where n.name = one and n.account = in_account and n.site = holder and n.proof = 'base' and n.checks is null;
    return next;
  end loop;
end
$$;
