-- Has a name stand as the base domain of its account, which it is a label below; a name that is proven by itself stays so. Nothing
-- where there is no such base.
create or replace function take_below_base(in_name text, in_account text, in_base site_names, in_at timestamptz) returns void
language plpgsql
as $$
begin
  if in_base.name is null or is_name_held(in_name, in_account, in_at) then
    return;
  end if;
  update site_names n
  set state = in_base.state, proof = 'base', seen_at = in_base.seen_at, missing_since = in_base.missing_since,
    until = in_base.until, reason = in_base.reason, due_at = null,
    changed_at = case when n.state = in_base.state then n.changed_at else in_at end
  where n.name = in_name and n.account = in_account and (n.state <> 'verified' or n.proof = 'base');
end
$$;
