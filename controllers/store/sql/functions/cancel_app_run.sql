-- Somebody asks a run to stop. Gives it as it is then; whoever has ended goes on having ended.
create or replace function cancel_app_run(in_id text, in_at timestamptz(3)) returns json
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  held app_runs;
begin
  update app_runs r set cancel_at = coalesce(r.cancel_at, in_at) where r.id = in_id and r.ended_at is null;
  select r.* into held from app_runs r where r.id = in_id;
  return app_run_row(held);
end
$$;
