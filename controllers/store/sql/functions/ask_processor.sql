-- What is asked of the card processor: the fact that it was asked and the row of the outbox by which it is done, in one
-- transaction. The message id is the processor's idempotency key, so that a repeat is the same ask.
--   in_ask  {resource, account, fact: {resource, key, …} as for append_facts, messageId, payload, at}
-- Gives whether it is new; what was asked stays as it was.
create or replace function ask_processor(in_lease text, in_epoch bigint, in_ask json) returns boolean
language plpgsql
as $$
declare
  given record;
begin
  perform fence(in_lease, in_epoch);
  select a.* into given from json_to_record(in_ask) as a(
    resource text, account text, fact json, "messageId" text, payload jsonb, at timestamptz(3)
  );
  perform append_facts(in_lease, in_epoch, json_build_array(given.fact));
  insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
  values (given.fact ->> 'resourceKind', given.resource, given.account, given.fact ->> 'key', 'card', given."messageId", given.payload, given.at, given.at)
  on conflict (resource, purpose) do nothing;
  return found;
end
$$;
