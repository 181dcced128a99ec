-- What is told of an accepted fact, to whoever listens: in the fact's own transaction, once per fact, and under an id that
-- is the same in every attempt. in_event {kind, account, type, data}.
create or replace function tell_event(in_resource text, in_key text, in_event json, in_at timestamptz) returns void
language plpgsql
as $$
begin
  insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
  values (
    in_event ->> 'kind', in_resource, in_event ->> 'account', 'event:' || in_key, 'event',
    'evt_' || left(encode(sha256(convert_to(in_resource || E'\n' || in_key, 'UTF8')), 'hex'), 32),
    in_event::jsonb - array['kind', 'account'], in_at, in_at
  )
  on conflict (resource, purpose) do nothing;
end
$$;
