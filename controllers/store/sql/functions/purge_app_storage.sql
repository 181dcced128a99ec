-- What nobody can come back to any more: the sealed whole of releases beyond the in_keep newest of their app, and uploads that
-- no kept release, no operation under way and no spec names and that were sent before in_before. At most in_limit of each.
create or replace function purge_app_storage(in_before timestamptz, in_keep integer, in_limit integer)
returns table (releases bigint, sources bigint, bytes bigint)
language plpgsql
as $$
declare
  v_hashes bytea[];
begin
  with over as (
    select r.app, r.number from app_releases r
    where r.sealed is not null and r.state in ('superseded', 'failed') and r.retired_at is not null
      and r.number <= (select max(n.number) from app_releases n where n.app = r.app) - in_keep
    limit in_limit
  ), emptied as (
    update app_releases r set sealed = null, record = (coalesce(r.record, '{}') - 'images') || '{"isPurged": true}'
    from over o where r.app = o.app and r.number = o.number
    returning 1
  )
  select count(*) into releases from emptied;

  with unnamed as (
    select s.account, s.digest from app_sources s
    where s.created_at < in_before
      and not exists (
        select from app_releases r join app_operations o on o.id = r.operation
        where r.source = s.digest and o.account = s.account and (r.sealed is not null or r.retired_at is null)
      )
      and not exists (
        select from app_operations o
        where o.account = s.account and o.ended_at is null and o.intent ->> 'digest' = s.digest
      )
      and not exists (
        select from desires d
        where d.kind = 'App' and d.spec ->> 'account' = s.account and d.spec -> 'source' ->> 'digest' = s.digest
          and not is_deleted(d.kind, d.name, d.uid)
      )
    limit in_limit
    for update skip locked
  ), gone as (
    delete from app_sources s using unnamed u where s.account = u.account and s.digest = u.digest
    returning s.sha256, s.index_sha256
  )
  select coalesce(array_agg(decode(one, 'hex')), '{}') into v_hashes
  from gone g, lateral (values (g.sha256), (g.index_sha256)) as v(one);
  sources := cardinality(v_hashes) / 2;

  with unnamed as (
    delete from blobs b
    where b.sha256 = any (v_hashes)
      and not exists (
        select from app_sources s where encode(b.sha256, 'hex') in (s.sha256, s.index_sha256)
      )
      and not exists (select from sends s where s.sha256 = b.sha256)
      and not exists (select from snapshots p where p.sha256 = b.sha256)
      and not exists (select from app_backup_parts k where k.sha256 = b.sha256)
    returning b.sha256, b.bytes
  ), chunks as (
    delete from blob_chunks c using unnamed u where c.sha256 = u.sha256
  )
  select coalesce(sum(u.bytes), 0) into bytes from unnamed u;
  return next;
end
$$;
