create or replace function leave_site_queue(in_lease text, in_epoch bigint, in_site text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_queue q where q.site = in_site;
end
$$;
