-- As take_epoch, by who holds the newest epoch: somebody outside has a mark (in_mark) that neither the database nor the Lease know.
-- Refused when the epoch is not held any more: then the mark may be that of who leads.
create or replace function raise_epoch(in_lease text, in_epoch bigint, in_mark bigint) returns bigint
language plpgsql
as $$
declare
  raised bigint;
begin
  perform pg_advisory_xact_lock(epoch_lock(in_lease));
  update epochs e set epoch = greatest(e.epoch, in_mark) + 1, taken_at = now()
  where e.lease = in_lease and e.epoch = in_epoch
  returning e.epoch into raised;
  if not found then
    raise exception 'epoch % of lease % is stale', in_epoch, in_lease using errcode = 'BT001';
  end if;
  return raised;
end
$$;
