-- Makes a token unless the account has in_max that still open; gives nothing then. One account mints one at a time.
-- An id that is there already is a repeat of the wish that made it.
create or replace function mint_token(
  in_id text, in_account text, in_name text, in_hash bytea, in_scopes text[], in_preset text, in_expires_at timestamptz,
  in_max int
) returns setof tokens
language plpgsql
as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(hashtextextended('tokens/' || in_account, 0));
  return query select * from tokens t where t.id = in_id and t.account = in_account;
  if found then
    return;
  end if;
  if (
    select count(*) from tokens t
    where t.account = in_account and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
  ) >= in_max then
    return;
  end if;
  return query
  insert into tokens (id, account, name, secret_hash, scopes, preset, expires_at)
  values (in_id, in_account, in_name, in_hash, in_scopes, in_preset, in_expires_at)
  returning *;
end
$$;
