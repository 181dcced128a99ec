-- What a look made of an account's claim of a domain (crds/names/life.ts decides it):
--   in_look  {name, account, n, state, proof, askedAt, seenAt, missingSince, until, reason, dueAt, checks, at, contests}
-- Gives 'kept'; 'stale' where the claim has changed since it was read; 'held' where the name, what it lies below, or a part of it is
-- another account's by now. `contests`: the record is there, so that whoever has the name is looked at soon. What is below a base
-- domain follows it.
create or replace function keep_site_name(in_lease text, in_epoch bigint, in_look json) returns text
language plpgsql
as $$
declare
  look record;
  root_of text;
  over site_names;
begin
  perform fence(in_lease, in_epoch);
  select t.* into look from json_to_record(in_look) as t(
    name text, account text, n bigint, state text, proof text, "askedAt" timestamptz(3), "seenAt" timestamptz(3),
    "missingSince" timestamptz(3), until timestamptz(3), reason text, "dueAt" timestamptz(3), checks jsonb,
    at timestamptz(3), contests boolean
  );
  perform lock_site_name(look.name);
  select s.root into root_of from site_names s where s.name = look.name and s.account = look.account;
  -- What was kept for long enough is anybody's who proves it.
  delete from site_names s
  where s.root = root_of and s.state = 'quarantined' and s.until <= look.at and names_overlap(s.name, look.name);
  for over in
    update site_names s
    set state = 'asked', proof = null, until = null, asked_at = look.at, changed_at = look.at, due_at = look.at
    where s.root = root_of and s.account <> look.account and s.state = 'lapsed' and s.until <= look.at
      and names_overlap(s.name, look.name)
    returning s.*
  loop
    if starts_with(over.name, '*.') then
      perform follow_base_domain(over.name, over.account, look.at);
    end if;
  end loop;
  if look.state <> 'asked' and is_name_held(look.name, look.account, '-infinity') then
    return 'held';
  end if;
  update site_names s
  set state = look.state, proof = look.proof, asked_at = look."askedAt", seen_at = look."seenAt",
    missing_since = look."missingSince", until = look.until, reason = look.reason, due_at = look."dueAt",
    checks = look.checks, looked_at = look.at, n = s.n + 1, changed_at = case when s.state = look.state then s.changed_at else look.at end
  where s.name = look.name and s.account = look.account and s.n = look.n
    and s.state not in ('claimed', 'quarantined');
  if not found then
    return 'stale';
  end if;
  if look.contests then
    update site_names s set contested_at = look.at, due_at = least(s.due_at, look.at)
    where s.root = root_of and s.account <> look.account and s.state in ('verified', 'missing')
      and names_overlap(s.name, look.name);
  end if;
  if starts_with(look.name, '*.') then
    perform follow_base_domain(look.name, look.account, look.at);
  end if;
  return 'kept';
end
$$;
