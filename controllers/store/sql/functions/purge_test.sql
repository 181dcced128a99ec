-- Takes away what a test invoice has left in the ledger, but for its entry in the register, and the bytes that nothing else
-- names. One that is no test stays as it is. Gives how many documents went.
create or replace function purge_test(in_lease text, in_epoch bigint, in_resource text) returns table (documents bigint)
language plpgsql
as $$
declare
  hashes bytea[];
  gone bigint;
begin
  perform fence(in_lease, in_epoch);
  if not is_test_invoice(in_resource) then
    return query select 0::bigint;
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(in_resource, 0));
  perform set_config('bottega.purging', in_resource, true);
  select array_agg(distinct h.sha256), count(h.*) into hashes, gone
  from (
    select s.sha256 from sends s where s.resource = in_resource
    union all
    select p.sha256 from snapshots p where p.resource = in_resource
    union all
    select decode(f.body ->> 'sha256', 'hex') from facts f where f.resource = in_resource and f.kind = 'previewed'
  ) h;
  delete from sends s where s.resource = in_resource;
  delete from snapshots p where p.resource = in_resource;
  delete from facts f where f.resource = in_resource;
  -- what says that it is over goes with the resource: whoever comes between the two would send it once more
  delete from schedule s where s.resource = in_resource and s.purpose <> 'purge';
  delete from desires d where d.kind = 'Invoice' and d.name = in_resource;
  delete from desire_history d where d.kind = 'Invoice' and d.name = in_resource;
  with unnamed as (
    delete from blobs b
    where b.sha256 = any (hashes)
      and not exists (select from sends s where s.sha256 = b.sha256)
      and not exists (select from snapshots p where p.sha256 = b.sha256)
      and not exists (select from app_backup_parts k where k.sha256 = b.sha256)
      and not exists (
        select from facts f where f.kind = 'previewed' and f.body ->> 'sha256' = encode(b.sha256, 'hex')
      )
    returning b.sha256
  )
  delete from blob_chunks c using unnamed u where c.sha256 = u.sha256;
  perform set_config('bottega.purging', '', true);
  return query select gone;
end
$$;
