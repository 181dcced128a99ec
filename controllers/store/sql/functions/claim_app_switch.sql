-- From here on it cannot be cancelled. Gives false when somebody cancelled before.
create or replace function claim_app_switch(in_lease text, in_epoch bigint, in_id text, in_at timestamptz)
returns table (claimed boolean)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  update app_operations o set switch_at = in_at
  where o.id = in_id and o.state = 'running' and o.cancel_at is null and o.switch_at is null;
  return query select o.switch_at is not null from app_operations o where o.id = in_id;
end
$$;
