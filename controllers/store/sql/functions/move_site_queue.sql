-- Waits on a host to bring these bytes, or has brought them. Other bytes than before keep the place while it waits; after a
-- switch they come last.
create or replace function move_site_queue(in_lease text, in_epoch bigint, in_site text, in_host text, in_digest text, in_stage text)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  if in_stage = 'waiting' then
    delete from site_queue q where q.site = in_site and q.stage = 'switched';
  end if;
  insert into site_queue (site, host, digest, stage) values (in_site, in_host, in_digest, in_stage)
  on conflict (site) do update set host = excluded.host, digest = excluded.digest, stage = excluded.stage;
end
$$;
