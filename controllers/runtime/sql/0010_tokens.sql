-- What a token may do, until when, and its rotation. A token without scopes has full access (a legacy token).
alter table tokens
  add column scopes text[] check (cardinality(scopes) > 0),
  add column preset text,
  add column expires_at timestamptz(3),
  add column rotated_at timestamptz(3),
  -- The secret before the last rotation opens for as long as the caller of the rotation allowed.
  add column previous_hash bytea check (length(previous_hash) = 32),
  add column previous_until timestamptz(3),
  add constraint previous_is_whole check ((previous_hash is null) = (previous_until is null));

-- Told beside what the mirror tells, so that every process that remembers a token forgets it at once.
create function tell_token() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('bottega_mirror', json_build_array('Token/' || new.id)::text);
  return null;
end
$$;
create trigger tokens_changed after update of secret_hash, revoked_at, previous_until, expires_at, scopes on tokens
for each row execute function tell_token();

-- Makes a token unless the account has in_max that still open; gives nothing then. One account mints one at a time.
-- An id that is there already is a repeat of the wish that made it.
create function mint_token(
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
