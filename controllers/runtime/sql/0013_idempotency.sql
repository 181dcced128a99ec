-- What was asked under an Idempotency-Key, and what was answered. A row stands before its handler runs, so of many equal
-- requests at once one runs; it is kept for 24 hours from the first use and swept away after that.
create table idempotency (
  account text not null check (account <> ''),
  -- Method and template, such as 'POST /api/invoices'.
  route text not null check (route <> ''),
  key text not null check (length(key) between 1 and 255),
  -- Keyed hash of path and body: a plain one of a short secret could be guessed from a copy of the database.
  fingerprint bytea not null check (length(fingerprint) = 32),
  first_used_at timestamptz(3) not null,
  -- 'running'; 'answered': kept and replayed; 'refused' (4xx): nothing was done, the key may be used with a corrected
  -- body; 'failed' (5xx): what was done is not known, the same request may run again.
  state text not null check (state in ('running', 'answered', 'refused', 'failed')),
  -- Names the run that may write the outcome.
  run uuid not null,
  -- While it runs: until then it is believed to be alive.
  lease_until timestamptz(3) not null,
  -- Status, headers and body, sealed: a body may show a secret this once.
  sealed bytea,
  primary key (account, route, key),
  constraint answered_is_sealed check ((state = 'answered') = (sealed is not null))
);
create index idempotency_by_age on idempotency (first_used_at);

-- Takes a key for a run, or says why not. first_used_at outlives crashes, failures and refusals, because effects are
-- named by it; only after in_keep a key begins anew.
create function reserve_key(
  in_account text, in_route text, in_key text, in_fingerprint bytea, in_run uuid, in_lease interval, in_now timestamptz(3),
  in_keep interval
)
returns table (outcome text, first_used_at text, sealed bytea)
language plpgsql
as $$
#variable_conflict use_column
declare
  held idempotency;
begin
  loop
    insert into idempotency (account, route, key, fingerprint, first_used_at, state, run, lease_until)
    values (in_account, in_route, in_key, in_fingerprint, in_now, 'running', in_run, clock_timestamp() + in_lease)
    on conflict do nothing;
    if found then
      return query select 'run', iso_ms(in_now), null::bytea;
      return;
    end if;
    select i.* into held from idempotency i
    where i.account = in_account and i.route = in_route and i.key = in_key for update;
    -- Swept away between the two statements: once more.
    exit when found;
  end loop;

  if held.first_used_at <= in_now - in_keep then
    held.first_used_at := in_now;
  elsif held.state <> 'refused' and held.fingerprint <> in_fingerprint then
    return query select 'mismatch', iso_ms(held.first_used_at), null::bytea;
    return;
  elsif held.state = 'answered' then
    return query select 'replay', iso_ms(held.first_used_at), held.sealed;
    return;
  elsif held.state = 'running' and held.lease_until > clock_timestamp() then
    return query select 'in_flight', iso_ms(held.first_used_at), null::bytea;
    return;
  end if;
  update idempotency i
  set fingerprint = in_fingerprint, first_used_at = held.first_used_at, state = 'running', run = in_run,
    lease_until = clock_timestamp() + in_lease, sealed = null
  where i.account = in_account and i.route = in_route and i.key = in_key;
  return query select 'run', iso_ms(held.first_used_at), null::bytea;
end
$$;
