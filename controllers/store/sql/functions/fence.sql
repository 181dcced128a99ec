-- Refuses an effect of a holder that is no longer the newest. The lock is held until the effect's transaction ends, so
-- that no newer holder begins while an older one's effect is half done. It comes first: what is read after it is current.
-- An epoch is no secret: who may not take a lease (the api's role) acts under none, though it knows the present one.
create or replace function fence(in_lease text, in_epoch bigint) returns void
language plpgsql
as $$
declare
  current_epoch bigint;
begin
  if not has_table_privilege(session_user, 'epochs', 'update') then
    raise exception '% acts under no epoch', session_user using errcode = '42501';
  end if;
  perform pg_advisory_xact_lock_shared(epoch_lock(in_lease));
  select e.epoch into current_epoch from epochs e where e.lease = in_lease;
  if current_epoch is distinct from in_epoch then
    raise exception 'epoch % of lease % is stale, the present one is %',
      coalesce(in_epoch::text, '(none)'), in_lease, coalesce(current_epoch::text, '(none)')
      using errcode = 'BT001';
  end if;
end
$$;
