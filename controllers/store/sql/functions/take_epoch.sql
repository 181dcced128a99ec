-- Waits for all effects in flight. The new epoch is above the last one here, and above in_floor: the highest that the Lease
-- has kept, for this database may be older than what lives around it.
create or replace function take_epoch(in_lease text, in_holder text, in_floor bigint) returns bigint
language sql
begin atomic
  select pg_advisory_xact_lock(epoch_lock(in_lease));
  insert into epochs as e (lease, epoch, holder) values (in_lease, greatest(in_floor, 0) + 1, in_holder)
  on conflict (lease) do update
    set epoch = greatest(e.epoch, in_floor) + 1, holder = excluded.holder, taken_at = now()
  returning epoch;
end;
