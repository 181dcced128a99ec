-- What is below a base domain stands as it does: it is served, missing and lapsed with it, and is to be proven by itself once the
-- base is not its account's any more (crds/site/names/base.ts, stateBelow).
create or replace function follow_base_domain(in_base text, in_account text, in_at timestamptz) returns void
language plpgsql
as $$
declare
  base site_names;
begin
  select * into base from site_names b
  where b.name = in_base and b.account = in_account and b.state in ('verified', 'missing', 'lapsed');
  if base is null then
    update site_names s
    set state = 'asked', proof = null, asked_at = in_at, missing_since = null, until = null, due_at = in_at, changed_at = in_at
    where s.account = in_account and s.proof = 'base' and s.state <> 'quarantined'
      and substr(s.name, strpos(s.name, '.') + 1) = substr(in_base, 3);
    return;
  end if;
  update site_names s
  set state = base.state, proof = 'base', seen_at = base.seen_at, missing_since = base.missing_since, until = base.until,
    reason = base.reason, due_at = null, changed_at = case when s.state = base.state then s.changed_at else in_at end
  where s.account = in_account and s.root = base.root and substr(s.name, strpos(s.name, '.') + 1) = substr(in_base, 3)
    and not starts_with(s.name, '*.')
    and (s.proof = 'base' and s.state <> 'quarantined' or s.state = 'asked' and base.state = 'verified')
    and (s.state, s.missing_since, s.until, s.reason, s.proof)
      is distinct from (base.state, base.missing_since, base.until, base.reason, 'base');
end
$$;
