-- 'asked' (or was before), 'ended', 'too_late'; nothing for one that is not there.
create or replace function cancel_app_operation(in_id text, in_account text, in_at timestamptz) returns table (outcome text)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  update app_operations o set cancel_at = in_at
  where o.id = in_id and o.account = in_account and o.state in ('queued', 'running') and o.switch_at is null
    and o.cancel_at is null;
  return query
  select case
    when o.state = 'cancelled' then 'asked'
    when o.switch_at is not null then 'too_late'
    when o.ended_at is not null then 'ended'
    else 'asked'
  end
  from app_operations o where o.id = in_id and o.account = in_account;
end
$$;
