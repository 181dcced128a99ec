-- A step of a running operation is done: the next one is the present one. in_known {record?, digest?, address?, state?} is
-- what was learned of the release. Gives whether it was the present step.
create or replace function pass_app_step(
  in_lease text, in_epoch bigint, in_id text, in_step text, in_known jsonb, in_sealed bytea, in_message text,
  in_at timestamptz
)
returns table (passed boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  present app_steps;
begin
  perform fence(in_lease, in_epoch);
  select s.* into present
  from app_steps s join app_operations o on o.id = s.operation
  where s.operation = in_id and s.state = 'running' and s.name = in_step and o.state = 'running' for update of s;
  if not found then
    return query select false;
    return;
  end if;
  update app_steps s set state = 'succeeded', ended_at = in_at, message = in_message
  where s.operation = in_id and s.place = present.place;
  update app_steps s set state = 'running', started_at = in_at
  where s.operation = in_id and s.place = present.place + 1;
  update app_releases r set
    record = coalesce(r.record, '{}') || coalesce(in_known -> 'record', '{}'),
    digest = coalesce(in_known ->> 'digest', r.digest),
    address = coalesce(in_known ->> 'address', r.address),
    state = coalesce(in_known ->> 'state', r.state),
    sealed = coalesce(in_sealed, r.sealed)
  from app_operations o
  where o.id = in_id and r.app = o.app and r.number = o.release;
  return query select true;
end
$$;
