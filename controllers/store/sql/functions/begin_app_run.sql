-- The turn of a run has come: from here on it may have run. Gives it as it is then; nothing where it was not waiting any more.
create or replace function begin_app_run(in_lease text, in_epoch bigint, in_id text, in_release integer, in_at timestamptz(3))
returns table (run json)
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  return query
  update app_runs r set state = 'running', release = in_release, started_at = in_at
  where r.id = in_id and r.state = 'queued' and r.cancel_at is null
  returning app_run_row(r);
end
$$;
