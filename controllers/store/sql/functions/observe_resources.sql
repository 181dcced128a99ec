-- All that the ledger knows of some resources, in one read: one row per resource asked for. Of the sends only the
-- newest carries what was frozen: a document that was sent fifty times would be megabytes in every pass. How each mail
-- fared is said in the words of its record: put off, refused, undecided, and when it is tried again.
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
      from register r where r.resource = a.resource and r.step = 0
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
