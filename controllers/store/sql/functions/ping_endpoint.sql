-- A message to one endpoint alone, with a place among the account's events like any other. Gives the delivery.
create or replace function ping_endpoint(in_endpoint text, in_event text, in_type text, in_data jsonb, in_at timestamptz(3))
returns bigint
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  whose text;
  place bigint;
  made bigint;
begin
  select w.account into whose from webhook_endpoints w where w.id = in_endpoint;
  if not found then
    return null;
  end if;
  insert into event_heads as h (account, last) values (whose, 1)
  on conflict (account) do update set last = h.last + 1 returning h.last into place;
  insert into events (account, sequence, id, type, object, object_sequence, test, data, created_at)
  values (
    whose, place, in_event, in_type, in_endpoint,
    coalesce((select max(e.object_sequence) from events e where e.object = in_endpoint), 0) + 1, true, in_data, in_at
  );
  insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
  values (in_endpoint, whose, place, 1, true, in_at, in_at) returning id into made;
  perform tell_herald(in_endpoint);
  return made;
end
$$;
