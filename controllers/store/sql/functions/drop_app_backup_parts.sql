-- The pieces of these archives go, and with them the bytes that nothing else names.
create or replace function drop_app_backup_parts(in_backups text[]) returns void
language plpgsql
as $$
begin
  with gone as (
    delete from app_backup_parts p where p.backup = any (in_backups) returning p.sha256
  ), unnamed as (
    delete from blobs b
    where b.sha256 in (select g.sha256 from gone g)
      and not exists (select from app_backup_parts p where p.sha256 = b.sha256 and p.backup <> all (in_backups))
      and not exists (select from app_sources s where encode(b.sha256, 'hex') in (s.sha256, s.index_sha256))
      and not exists (select from sends s where s.sha256 = b.sha256)
      and not exists (select from snapshots s where s.sha256 = b.sha256)
    returning b.sha256
  )
  delete from blob_chunks c using unnamed u where c.sha256 = u.sha256;
end
$$;
