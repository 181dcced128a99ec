-- Arrives in the queue, or stays where it is. Without a lease (the API): only when it is not there yet.
create or replace function arrive_in_site_queue(in_site text) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  insert into site_queue (site) values (in_site) on conflict do nothing;
end;
