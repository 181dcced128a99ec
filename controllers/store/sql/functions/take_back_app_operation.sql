-- No spec asks for the operation, for certain: it is as if it had never been entered. Gives whether that is so; false where one
-- that was entered later has brought it along.
create or replace function take_back_app_operation(in_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  delete from app_operations o
  where o.id = in_id and o.state = 'queued' and not o.by_controller
    and not exists (select from app_operations l where l.app = o.app and l.n > o.n);
  return found;
end
$$;
