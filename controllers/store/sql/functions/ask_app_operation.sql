-- Enters what is asked, or finds it: the id is made from the Idempotency-Key. in_epoch null: by the API, which needs none.
create or replace function ask_app_operation(
  in_lease text, in_epoch bigint, in_id text, in_app text, in_account text, in_kind text, in_intent jsonb,
  in_steps text[], in_at timestamptz
)
returns table (operation json)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  if in_epoch is not null then
    perform fence(in_lease, in_epoch);
  end if;
  perform app_lock(in_app);
  insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at)
  select in_id, in_app, in_account, coalesce(max(o.n), 0) + 1, in_kind, in_intent, in_epoch is not null, 'queued', in_at
  from app_operations o where o.app = in_app
  on conflict (id) do nothing;
  insert into app_steps (operation, place, name, state)
  select in_id, s.place, s.name, 'pending' from unnest(in_steps) with ordinality as s(name, place)
  on conflict do nothing;
  return query select app_operation_row(o) from app_operations o where o.id = in_id and o.app = in_app;
end
$$;
