-- Told beside what the mirror tells, so that every process that remembers a token forgets it at once.
create or replace function tell_token() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('bottega_mirror', json_build_array('Token/' || new.id)::text);
  return null;
end
$$;

create or replace trigger tokens_changed after update of secret_hash, revoked_at, previous_until, expires_at, scopes on tokens
for each row execute function tell_token();
