-- An account's claim of a base domain, which blocks nobody: 'taken' where it is new, 'held' where it was there, 'refused' where
-- another account has proven it, what it lies below, or a part of it, 'full' where the account has as many as it may (BASES_MAX).
-- A claim that was not proven gives way to the new one.
create or replace function claim_base_domain(in_domain text, in_account text) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  base text := '*.' || in_domain;
  at timestamptz := platform_now();
  own site_names;
begin
  perform lock_site_name(base);
  select * into own from site_names n where n.name = base and n.account = in_account;
  -- What was only served before proofs were asked for gives way to one, and is asked for its own by the look.
  if (own.name is null or own.state = 'asked') and exists (
    select from site_names s
    where s.root = coalesce(substring(base from '[^.]+[.][^.]+$'), base) and s.account <> in_account
      and s.state in ('verified', 'missing', 'lapsed', 'quarantined') and (s.until is null or s.until > at)
      and s.proof is distinct from 'before' and names_overlap(s.name, base)
  ) then
    return 'refused';
  end if;
  if own.name is not null then
    update site_names n
    set state = case when own.state = 'quarantined' then 'lapsed' else own.state end,
      asked_at = case when own.state = 'asked' then at else own.asked_at end,
      changed_at = case when own.state = 'quarantined' then at else own.changed_at end,
      due_at = case
        when own.state = 'quarantined' then at
        when own.state = 'verified' then own.due_at
        else least(own.due_at, greatest(at, own.looked_at + interval '3 seconds'))
      end
    where n.name = base and n.account = in_account;
    return 'held';
  end if;
  delete from site_names n where n.account = in_account and starts_with(n.name, '*.') and n.state = 'asked';
  if (select count(*) from site_names n where n.account = in_account and starts_with(n.name, '*.')) >= 5 then
    return 'full';
  end if;
  insert into site_names (name, site, account, state, asked_at, changed_at, due_at)
  values (base, '', in_account, 'asked', at, at, at);
  return 'taken';
end
$$;
