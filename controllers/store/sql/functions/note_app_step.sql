-- Says of the step that runs how far it is. Nothing is decided by it, so the app's revision stays.
create or replace function note_app_step(in_lease text, in_epoch bigint, in_operation text, in_note text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  update app_steps s set message = in_note
  where s.operation = in_operation and s.state = 'running' and in_note is not null and s.message is distinct from in_note;
end
$$;
