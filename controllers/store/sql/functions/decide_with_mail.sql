-- Decides on one fact and queues the mail that follows from it, all or nothing. `in_verdict` as for decide_facts, `in_mail`
-- {kind, account, purpose, channel, messageId, payload} or null; it is queued once, however often this is repeated.
create or replace function decide_with_mail(in_lease text, in_epoch bigint, in_verdict json, in_mail json)
returns table (state text)
language plpgsql
as $$
declare
  decided record;
begin
  select d.resource, d.state into strict decided
  from decide_facts(in_lease, in_epoch, json_build_array(in_verdict)) d;
  insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
  select m.kind, decided.resource, m.account, m.purpose, m.channel, m."messageId", m.payload, v.at, v.at
  from json_to_record(in_mail) as m(kind text, account text, purpose text, channel text, "messageId" text, payload jsonb),
  json_to_record(in_verdict) as v(at timestamptz(3))
  where decided.state = 'accepted' and m.purpose is not null
  on conflict (resource, purpose) do nothing;
  return query select decided.state;
end
$$;
