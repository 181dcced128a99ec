-- Stores an endpoint. Gives the one that stands: `made` is false for one that was there already with this url and these events;
-- no row at all: the account has as many as it may.
create or replace function create_endpoint(
  in_id text, in_account text, in_url text, in_events text[], in_fingerprint text, in_secret bytea, in_limit integer,
  in_at timestamptz(3)
)
returns table (id text, made boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  known text;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhook_endpoints/' || in_account, 0));
  select w.id into known from webhook_endpoints w where w.account = in_account and w.fingerprint = in_fingerprint;
  if found then
    return query select known, false;
  elsif (select count(*) from webhook_endpoints w where w.account = in_account) < in_limit then
    insert into webhook_endpoints (id, account, url, events, fingerprint, secret, created_at, updated_at)
    values (in_id, in_account, in_url, in_events, in_fingerprint, in_secret, in_at, in_at);
    return query select in_id, true;
  end if;
end
$$;
