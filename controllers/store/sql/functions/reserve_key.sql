-- Takes a key for a run, or says why not. first_used_at outlives crashes, failures and refusals, because effects are
-- named by it; only after in_keep a key begins anew, or with another request once the first was refused: that one's effects
-- are named anew.
create or replace function reserve_key(
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
    return query select 'mismatch', iso_ms(held.first_used_at), case held.state when 'answered' then held.sealed end;
    return;
  elsif held.fingerprint <> in_fingerprint then
    held.first_used_at := greatest(in_now, held.first_used_at + interval '1 ms');
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
