-- Nothing of a run is on its host any more.
create or replace function drop_app_run(in_lease text, in_epoch bigint, in_id text, in_at timestamptz(3)) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  update app_runs r set dropped_at = in_at where r.id = in_id and r.dropped_at is null;
end
$$;
