-- Freezes sends: the bytes, the send, the mail that tells of it, the event and what falls due, all or nothing. What is frozen stays as it is.
--   in_sends  [{resource, n, at, gate, frozen, sha256, bytes, mail: {kind, account, purpose, channel, messageId, payload} | null,
--             event: {kind, account, type, data} | null,
--             schedule: {kind, resource, rows} as for put_schedule; may be left out}]
-- in_blobs and in_content as for put_blobs. Gives the sends that are new.
create or replace function freeze_sends(in_lease text, in_epoch bigint, in_sends json, in_blobs json, in_content bytea)
returns table (resource text, n integer)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  perform put_blobs(in_blobs, in_content);

  return query
  with given as materialized (
    select s.*
    from json_to_recordset(in_sends) as s(
      resource text, n integer, at timestamptz(3), gate text, frozen jsonb, sha256 text, bytes bigint, mail json,
      event json
    )
  ),
  frozen as (
    insert into sends (resource, n, at, gate, frozen, sha256, bytes)
    select g.resource, g.n, g.at, g.gate, g.frozen, decode(g.sha256, 'hex'), g.bytes
    from given g
    order by g.resource, g.n
    on conflict do nothing
    returning resource, n
  ),
  queued as (
    insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
    select m.kind, g.resource, m.account, m.purpose, m.channel, m.message_id, m.payload, g.at, g.at
    from given g
    join frozen f on f.resource = g.resource and f.n = g.n
    cross join lateral (values
      (1, g.mail ->> 'kind', g.mail ->> 'account', g.mail ->> 'purpose', g.mail ->> 'channel', g.mail ->> 'messageId', (g.mail -> 'payload')::jsonb),
      -- The id is made as in tell_event.
      (2, g.event ->> 'kind', g.event ->> 'account', case when g.event is not null then 'event:send:' || g.n end, 'event',
        'evt_' || left(encode(sha256(convert_to(g.resource || e'\n' || 'send:' || g.n, 'UTF8')), 'hex'), 32),
        g.event::jsonb - array['kind', 'account'])
    ) m(place, kind, account, purpose, channel, message_id, payload)
    where m.purpose is not null
    order by g.resource, g.n, m.place
    on conflict (resource, purpose) do nothing
  )
  select f.resource, f.n from frozen f;
  perform put_schedule(in_lease, in_epoch, plans.due)
  from (
    select json_agg(s.schedule) as due from json_to_recordset(in_sends) as s(schedule json) where s.schedule is not null
  ) plans
  where plans.due is not null;
end
$$;
