-- Backups go by their day, and those beyond the in_kept newest of their volume; the newest stays. Of what failed as many are remembered.
-- What is being restored stays until that has ended. At most in_limit at once.
create or replace function sweep_app_backups(in_lease text, in_epoch bigint, in_now timestamptz, in_kept integer, in_limit integer)
returns table (gone bigint)
language plpgsql
as $$
declare
  v_ids text[];
begin
  perform fence(in_lease, in_epoch);
  select coalesce(array_agg(l.id), '{}') into v_ids
  from (
    select p.id from (
      select b.id, b.expires_at, b.dropped_at, row_number() over (
        partition by b.app, b.volume, b.state = 'succeeded' order by b.created_at desc, b.id desc
      ) as place
      from app_backups b where b.ended_at is not null
    ) p
    where p.dropped_at is not null and (p.place > in_kept or (p.place > 1 and p.expires_at < in_now))
      and not exists (select from app_backups r where r.restores = p.id and r.ended_at is null)
    limit in_limit
  ) l;
  perform drop_app_backup_parts(v_ids);
  delete from app_backups b where b.id = any (v_ids);
  return query select cardinality(v_ids)::bigint;
end
$$;
