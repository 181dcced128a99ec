-- Freezes one document with the fact that tells of it, the mail, the event and the entry of the register that follow from it,
-- all or nothing.
--   in_snapshot  {resource, id, at, frozen, sha256, bytes, fact: {resource, key, …}, mail: {…} | null, entry: {…} | null}
-- `fact` as for append_facts, `mail`, `entry` and in_content as for freeze_sends. Gives whether it is new; what is frozen stays.
create or replace function freeze_snapshot(in_lease text, in_epoch bigint, in_snapshot json, in_content bytea)
returns table (fresh boolean)
language plpgsql
as $$
declare
  given record;
begin
  perform fence(in_lease, in_epoch);
  select s.* into given from json_to_record(in_snapshot) as s(
    resource text, id text, at timestamptz(3), frozen jsonb, sha256 text, bytes bigint, fact json, mail json,
    entry json
  );
  perform put_blobs(json_build_array(json_build_object('sha256', given.sha256, 'bytes', given.bytes, 'start', 0)), in_content);
  insert into snapshots (resource, id, at, frozen, sha256, bytes)
  values (given.resource, given.id, given.at, given.frozen, decode(given.sha256, 'hex'), given.bytes)
  on conflict do nothing;
  if not found then
    return query select false;
    return;
  end if;
  perform append_facts(in_lease, in_epoch, json_build_array(given.fact));
  insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
  select m.kind, given.resource, m.account, m.purpose, m.channel, m."messageId", m.payload, given.at, given.at
  from json_to_record(given.mail) as m(kind text, account text, purpose text, channel text, "messageId" text, payload jsonb)
  where m.purpose is not null
  on conflict (resource, purpose) do nothing;
  if given.entry is not null then
    perform chain_entry(given.resource, given.entry, given.at);
  end if;
  return query select true;
end
$$;
