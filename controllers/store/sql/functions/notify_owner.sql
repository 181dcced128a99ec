-- What the owner of an account is told by mail, with the fact that it follows from and the event of that fact, and with the
-- place under the cap of sends that is free again because the send came to nothing; all or nothing, and once.
--   in_notification  {resource, at, fact: {…, event} | null, mail: {kind, account, purpose, messageId, payload} | null, giveBack: n | null}
-- `fact` as for append_facts. Gives whether anything was new.
create or replace function notify_owner(in_lease text, in_epoch bigint, in_notification json)
returns table (fresh boolean)
language plpgsql
as $$
declare
  given record;
  slot record;
  is_new boolean := true;
  queued bigint;
begin
  perform fence(in_lease, in_epoch);
  select t.* into given from json_to_record(in_notification) as t(
    resource text, at timestamptz(3), fact json, mail json, "giveBack" integer
  );
  if given.fact is not null then
    select a.fresh into is_new from append_facts(in_lease, in_epoch, json_build_array(given.fact)) a;
  end if;
  insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
  select m.kind, given.resource, m.account, m.purpose, 'mail', m."messageId", m.payload, given.at, given.at
  from json_to_record(given.mail) as m(kind text, account text, purpose text, "messageId" text, payload jsonb)
  where m.purpose is not null
  on conflict (resource, purpose) do nothing;
  get diagnostics queued = row_count;
  if is_new and given."giveBack" is not null then
    delete from send_slots s where s.resource = given.resource and s.n = given."giveBack"
    returning s.account, s.day into slot;
    if found then
      update send_days d set used = greatest(0, d.used - 1) where d.account = slot.account and d.day = slot.day;
    end if;
  end if;
  return query select is_new and (given.fact is not null or queued > 0);
end
$$;
