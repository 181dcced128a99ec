-- Binds the resource of an account to its key, or brings what is known of it up to date.
--   in_continues  the uid of the account that this one is to go on as, as an administrator says; null: none
-- Without that word it goes on as the one before it only where nobody saw that one deleted (the cluster was lost, or made
-- again) and the owner's address is the same: whoever reads mail there can sign in to it anyway.
create or replace function begin_account_life(
  in_lease text, in_epoch bigint, in_uid text, in_name text, in_email text, in_continues text, in_at timestamptz(3)
)
returns table (key text)
language plpgsql
as $$
#variable_conflict use_column
declare
  known account_lives;
  wanted account_lives;
  last account_lives;
  chosen text;
begin
  perform fence(in_lease, in_epoch);
  perform pg_advisory_xact_lock(hashtextextended('account_lives/' || in_name, 0));
  select l.* into known from account_lives l where l.uid = in_uid;
  select l.* into wanted from account_lives l where l.uid = in_continues and l.uid <> in_uid;
  if wanted.uid is not null and not is_account_held(wanted.key, in_name) then
    chosen := wanted.key;
  elsif known.uid is not null then
    chosen := known.own_key;
  else
    select l.* into last from account_lives l where l.name = in_name order by l.n desc limit 1;
    if last.uid is not null and last.ended_at is null and lower(last.email collate "C") = lower(in_email collate "C")
      and not is_account_held(last.key, in_name)
    then
      chosen := last.key;
    else
      chosen := next_account_key(in_name);
      -- Its tokens and sessions open nothing under another key; nor is anybody told any more of what was its.
      update webhook_endpoints w
      set disabled_at = in_at, disabled_reason = 'another account has its name', version = w.version + 1, updated_at = in_at
      where w.account = last.key and w.disabled_at is null and last.key <> chosen and not is_account_held(last.key, in_name);
    end if;
  end if;
  insert into account_lives as l (uid, name, key, own_key, email, asked, seen_at)
  values (in_uid, in_name, chosen, chosen, in_email, in_continues, in_at)
  on conflict (uid) do update set
    name = excluded.name, key = excluded.key, email = excluded.email, asked = excluded.asked, ended_at = null;
  -- Whoever signed in by the former address may not any more.
  if lower(known.email collate "C") <> lower(in_email collate "C") then
    update sessions s set revoked_at = in_at where s.account = chosen and s.revoked_at is null;
  end if;
  return query select chosen;
end
$$;
