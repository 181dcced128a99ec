-- A full domain: a claim of the account's own, beside those of others. Asked for again by the same site, it is looked at soon. One
-- label below a base domain that the account has proven is the account's without a proof of its own.
create or replace function take_site_domain(in_name text, in_site text, in_account text, in_settle boolean) returns text
language plpgsql
as $$
declare
  lapses timestamptz := case when in_settle then null else now() + interval '2 minutes' end;
  at timestamptz := platform_now();
  own site_names;
  base site_names;
begin
  select * into base from site_names b
  where b.name = '*.' || substr(in_name, strpos(in_name, '.') + 1) and b.account = in_account
    and b.state in ('verified', 'missing', 'lapsed');
  select * into own from site_names n where n.name = in_name and n.account = in_account;
  if own is null then
    insert into site_names (name, site, account, reserved_until, state, asked_at, changed_at, due_at)
    values (
      in_name, in_site, in_account, lapses, case when in_settle or base.name is not null then 'asked' else 'claimed' end, at, at,
      case when in_settle then at end
    );
    perform take_below_base(in_name, in_account, base, at);
    return 'taken';
  end if;
  if own.site <> in_site and own.state <> 'quarantined' and not own.spare
    and (own.reserved_until is null or own.reserved_until > now()) then
    return 'refused';
  end if;
  perform yield_site_name(own, in_site);
  update site_names n
  set site = in_site, spare = false,
    reserved_until = case when own.site = in_site and own.reserved_until is null then null else lapses end,
    state = case
      when own.state = 'quarantined' then 'lapsed'
      when own.state = 'claimed' and in_settle then 'asked'
      else own.state
    end,
    changed_at = case
      when own.state = 'quarantined' or own.state = 'claimed' and in_settle then at
      else own.changed_at
    end,
    due_at = case
      when own.state = 'quarantined' or own.state = 'claimed' and in_settle then at
      when own.state in ('asked', 'missing', 'lapsed')
        then least(own.due_at, greatest(at, own.looked_at + interval '10 seconds'))
      else own.due_at
    end
  where n.name = in_name and n.account = in_account;
  perform take_below_base(in_name, in_account, base, at);
  return case when own.site = in_site and own.state <> 'quarantined' then 'held' else 'taken' end;
end
$$;
