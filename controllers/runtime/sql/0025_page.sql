-- A mail that the recipient's own server refuses for good is apart from one that we gave up.
alter table outbox drop constraint state_fits_due_at;
alter table outbox add constraint state_fits_due_at check (
  case state when 'queued' then due_at is not null when 'sending' then due_at is not null else
    state = 'unknown' or (state in ('sent', 'failed', 'bounced') and due_at is null) end
);

-- As in 0020, with how each mail fared in the words of its record: put off, refused, undecided, and when it is tried again.
create or replace function observe_resources(in_resources text[])
returns table (resource text, record json, sends json, facts json, deliveries json)
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return query
  select a.resource,
    (
      select json_build_object(
        'number', r.number, 'seriesId', r.series_id, 'seq', r.seq, 'kind', r.kind, 'issuedAt', iso_ms(r.issued_at),
        'uid', r.uid, 'claimed', r.claimed
      )
      from register r where r.resource = a.resource
    ),
    (
      select json_agg(json_build_object(
        'n', s.n, 'at', iso_ms(s.at), 'gate', s.gate, 'sha256', encode(s.sha256, 'hex'), 'bytes', s.bytes,
        'frozen', case when s.newest then s.frozen end
      ) order by s.n)
      from (
        select s.*, lead(s.n) over (order by s.n) is null as newest from sends s where s.resource = a.resource
      ) s
    ),
    (
      select json_agg(json_build_object(
        'seq', f.seq, 'key', f.key, 'kind', f.kind, 'body', f.body, 'state', f.state, 'refusedCode', f.refused_code,
        'outcome', f.outcome, 'at', iso_ms(f.at)
      ) order by f.seq)
      from facts f where f.resource = a.resource
    ),
    (
      select json_agg(json_build_object(
        'purpose', o.purpose, 'attempts', o.attempts, 'unknowns', o.unknowns, 'lastError', o.last_error,
        'at', iso_ms(o.created_at),
        'nextAttemptAt', case when o.state <> 'sending' and o.attempts > 0 then iso_ms(o.due_at) end,
        'state', case
          when o.state = 'sent' then 'accepted'
          when o.state in ('failed', 'bounced') then o.state
          when o.unknowns > 0 then 'unknown'
          when o.last_error is not null then 'deferred'
          else 'queued'
        end
      ) order by o.id)
      from outbox o where o.resource = a.resource and o.channel = 'mail'
    )
  from unnest(in_resources) as a(resource);
end
$$;

-- As in 0020, and `bounced` ends a mail too.
create or replace function turn_outbox(
  in_lease text, in_epoch bigint,
  in_ids bigint[], in_attempts integer[], in_states text[], in_errors text[], in_dues timestamptz[],
  in_channel text, in_now timestamptz, in_lease_until timestamptz, in_limit integer
)
returns table (
  id bigint, resource text, purpose text, message_id text, payload jsonb, attempt integer, unknowns integer,
  created_at text, gate text, frozen jsonb
)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  for place in 1..cardinality(in_ids) loop
    update outbox o set
      state = in_states[place],
      unknowns = o.unknowns + case when in_states[place] = 'unknown' then 1 else 0 end,
      last_error = coalesce(in_errors[place], o.last_error),
      due_at = in_dues[place],
      settled_at = case when in_states[place] in ('sent', 'failed', 'bounced') then in_now end
    where o.id = in_ids[place] and o.attempts = in_attempts[place] and o.state = 'sending';
  end loop;
  if in_limit = 0 then
    return;
  end if;
  return query
  with taken as (
    update outbox o set
      state = 'sending',
      attempts = o.attempts + 1,
      unknowns = o.unknowns + case when o.state = 'sending' then 1 else 0 end,
      last_error = case
        when o.state = 'sending' then 'the outcome of attempt ' || o.attempts || ' is unknown: its sender went away'
        else o.last_error
      end,
      lease_until = in_lease_until,
      epoch = in_epoch
    -- An array, not a join: the plan is kept, and a join might be planned as a read of the whole outbox. The rows come in
    -- the order of the index, so the limit ends the search, however many are due.
    where o.id = any (array(
      select d.id
      from outbox d
      where d.channel = in_channel and d.due_at <= in_now
        and (d.state <> 'sending' or d.lease_until <= in_now or d.epoch < in_epoch)
      order by d.due_at, d.id
      limit in_limit
      for update skip locked
    ))
    returning o.*
  )
  select t.id, t.resource, t.purpose, t.message_id, t.payload, t.attempts, t.unknowns, iso_ms(t.created_at),
    s.gate, coalesce(p.frozen, s.frozen)
  from taken t
  left join lateral (
    select * from sends s where s.resource = t.resource and s.n = (t.payload ->> 'n')::integer limit 1
  ) s on true
  left join lateral (
    select * from snapshots p where p.resource = t.resource and p.id = t.payload ->> 'snapshot' limit 1
  ) p on true
  order by t.id;
end
$$;

-- What the owner of an account is told by mail, with the fact that it follows from and the event of that fact, and with the
-- place under the cap of sends that is free again because the send came to nothing; all or nothing, and once.
--   in_telling  {resource, at, fact: {…, event} | null, mail: {purpose, messageId, payload} | null, giveBack: n | null}
-- `fact` as for append_facts. Gives whether anything was new.
create function tell_owner(in_lease text, in_epoch bigint, in_telling json)
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
  select t.* into given from json_to_record(in_telling) as t(
    resource text, at timestamptz(3), fact json, mail json, "giveBack" integer
  );
  if given.fact is not null then
    select a.fresh into is_new from append_facts(in_lease, in_epoch, json_build_array(given.fact)) a;
  end if;
  insert into outbox (resource, purpose, channel, message_id, payload, due_at, created_at)
  select given.resource, m.purpose, 'mail', m."messageId", m.payload, given.at, given.at
  from json_to_record(given.mail) as m(purpose text, "messageId" text, payload jsonb)
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
