-- Refuses an effect of a holder that is no longer the newest. The lock is held until the effect's transaction ends, so
-- that no newer holder begins while an older one's effect is half done. It comes first: what is read after it is current.
create or replace function fence(in_lease text, in_epoch bigint) returns void
language plpgsql
as $$
declare
  current_epoch bigint;
begin
  perform pg_advisory_xact_lock_shared(epoch_lock(in_lease));
  select e.epoch into current_epoch from epochs e where e.lease = in_lease;
  if current_epoch is distinct from in_epoch then
    raise exception 'epoch % of lease % is stale, the present one is %',
      coalesce(in_epoch::text, '(none)'), in_lease, coalesce(current_epoch::text, '(none)')
      using errcode = 'BT001';
  end if;
end
$$;
