-- Freezes sends: the bytes, the send, the mail that tells of it, the event, what it amends and what falls due, all or nothing.
-- What is frozen stays as it is.
--   in_sends  [{resource, n, at, gate, frozen, sha256, bytes, mail: {kind, account, purpose, channel, messageId, payload} | null,
--             event: {kind, account, type, data} | null, entry: {entry, totalCents, currency, reference} | null,
--             schedule: {kind, resource, rows}}]
-- `entry` as for chain_entry, `schedule` as for put_schedule or left out. in_blobs and in_content as for put_blobs. Gives the
-- sends that are new.
create or replace function freeze_sends(in_lease text, in_epoch bigint, in_sends json, in_blobs json, in_content bytea)
returns table (resource text, n integer)
language plpgsql
as $$
#variable_conflict use_column
declare
  one record;
begin
  perform fence(in_lease, in_epoch);
  perform put_blobs(in_blobs, in_content);

  for one in
    with given as materialized (
      select s.*
      from json_to_recordset(in_sends) as s(
        -- of json each ->> would parse the text anew
        resource text, n integer, at timestamptz(3), gate text, frozen jsonb, sha256 text, bytes bigint, mail jsonb,
        event jsonb, entry json
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
        (1, g.mail ->> 'kind', g.mail ->> 'account', g.mail ->> 'purpose', g.mail ->> 'channel', g.mail ->> 'messageId', g.mail -> 'payload'),
        -- The id is made as in tell_event.
        (2, g.event ->> 'kind', g.event ->> 'account', case when g.event is not null then 'event:send:' || g.n end, 'event',
          'evt_' || left(encode(sha256(convert_to(g.resource || e'\n' || 'send:' || g.n, 'UTF8')), 'hex'), 32),
          g.event - array['kind', 'account'])
      ) m(place, kind, account, purpose, channel, message_id, payload)
      where m.purpose is not null
      order by g.resource, g.n, m.place
      on conflict (resource, purpose) do nothing
    )
    select o.*
    from (
      -- Who asks twice in one batch is answered twice, and enters once.
      select distinct on (f.resource, f.n) f.resource, f.n, g.at, g.entry
      from frozen f join given g on g.resource = f.resource and g.n = f.n
    ) o
    -- The limit keeps this a look-up by index: of a mere join PostgreSQL reads the register from one end to the other.
    left join lateral (select r.series_id from register r where o.entry is not null and r.resource = o.resource and r.step = 0 limit 1) r
      on true
    order by r.series_id, o.resource, o.n
  loop
    if one.entry is not null then
      perform chain_entry(one.resource, one.entry, one.at);
    end if;
    resource := one.resource;
    n := one.n;
    return next;
  end loop;
  perform put_schedule(in_lease, in_epoch, plans.due)
  from (
    select json_agg(s.schedule) as due
    from (
      select distinct on (g.resource) g.schedule
      from json_to_recordset(in_sends) as g(resource text, schedule json) where g.schedule is not null
    ) s
  ) plans
  where plans.due is not null;
end
$$;
