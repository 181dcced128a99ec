-- The visitors are on the new release. in_event as for tell_event.
create or replace function app_goes_live(in_lease text, in_epoch bigint, in_id text, in_at timestamptz, in_event json)
returns table (done boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  mine app_operations;
begin
  perform fence(in_lease, in_epoch);
  update app_operations o set state = 'succeeded', ended_at = in_at
  where o.id = in_id and o.state = 'running' and o.switch_at is not null
  returning o.* into mine;
  if not found then
    return query select false;
    return;
  end if;
  update app_steps s set state = 'succeeded', ended_at = in_at where s.operation = in_id and s.state = 'running';
  update app_releases r set state = 'superseded', superseded_at = in_at where r.app = mine.app and r.state = 'live';
  update app_releases r set state = 'live', live_at = in_at where r.app = mine.app and r.number = mine.release;
  perform tell_event(mine.app, 'operation:' || in_id, in_event, in_at);
  return query select true;
end
$$;
