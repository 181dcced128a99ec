-- A full domain: a claim of the account's own, beside those of others. Asked for again by the same site, it is looked at soon.
create or replace function take_site_domain(in_name text, in_site text, in_account text, in_settle boolean) returns text
language plpgsql
as $$
declare
  lapses timestamptz := case when in_settle then null else now() + interval '2 minutes' end;
  at timestamptz := platform_now();
  own site_names;
begin
  select * into own from site_names n where n.name = in_name and n.account = in_account;
  if own is null then
    insert into site_names (name, site, account, reserved_until, state, asked_at, changed_at, due_at)
    values (
      in_name, in_site, in_account, lapses, case when in_settle then 'asked' else 'claimed' end, at, at,
      case when in_settle then at end
    );
    return 'taken';
  end if;
  if own.site <> in_site and own.state <> 'quarantined' and (own.reserved_until is null or own.reserved_until > now()) then
    return 'refused';
  end if;
  update site_names n
  set site = in_site,
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
  return case when own.site = in_site and own.state <> 'quarantined' then 'held' else 'taken' end;
end
$$;
