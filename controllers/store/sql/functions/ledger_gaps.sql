-- Where the ledger does not fit itself, as when parts of it were put back alone: what the entries of a series, the heads of the history
-- and the documents know of numbers that the count of the series, or the register, does not have. One row for each, at most in_limit:
--   counted    a series counts less than it has entries; seq and number are those of its newest entry
--   headed     a head of the history had seen a series at a number that it has not come to
--   unnumbered a document of what has no number in the register; resource is what would have it, document what stands on it
-- Cheap, for whoever takes over waits for it: of documents no more is read than whose they are.
create or replace function ledger_gaps(in_limit integer)
returns table (
  gap text, series text, account text, prefix text, seq bigint, number text, has bigint, resource text, document json
)
language sql stable
begin atomic
  -- The series that have entries, each by one look into the index.
  with recursive begun as (
    (select r.series_id from register r order by r.series_id limit 1)
    union all
    select (select r.series_id from register r where r.series_id > b.series_id order by r.series_id limit 1)
    from begun b where b.series_id is not null
  ),
  entered as (
    select b.series_id as id, n.seq, n.number
    from begun b
    cross join lateral (
      select r.seq, r.number from register r where r.series_id = b.series_id and r.step = 0 order by r.seq desc limit 1
    ) n
    where b.series_id is not null
  ),
  headed as (
    select s.id, s.account, s.prefix, s.last_seq, k.seq
    from series s
    cross join lateral (
      select m.seq from history_marks m where m.chain = 'register/' || s.id order by m.n desc limit 1
    ) k
    where k.seq > s.last_seq and not exists (select from entered e where e.id = s.id and e.seq >= k.seq)
  ),
  documents as (
    select d.resource, d.invoice, d.frozen, d.frozen ->> 'number' as number,
      rtrim(d.frozen ->> 'number', '0123456789') as prefix, d.at, m.account, m.uid, m.view ->> 'issuer_id' as issuer, m.external_ref
    from (
      select s.resource, s.resource as invoice, s.frozen, s.at
      from sends s
      where s.n = 1 and not exists (select from register r where r.resource = s.resource and r.step = 0)
      union all
      select p.resource || '/' || p.id, p.resource, p.frozen, p.at
      from snapshots p
      where p.id not in ('paid', 'void')
        and not exists (select from register r where r.resource = p.resource || '/' || p.id and r.step = 0)
    ) d
    left join mirror m on m.kind = 'Invoice' and m.name = d.invoice
  )
  select g.gap, g.series, g.account, g.prefix, g.seq, g.number, g.has, g.resource, g.document
  from (
    select 'counted' as gap, e.id as series, coalesce(s.account, split_part(e.id, '/', 1)) as account,
      coalesce(s.prefix, rtrim(e.number, '0123456789')) as prefix, e.seq, e.number,
      coalesce(s.last_seq, 0) as has, null as resource, null::json as document
    from entered e left join series s on s.id = e.id
    where s.id is null or s.last_seq < e.seq
    union all
    select 'headed', h.id, h.account, h.prefix, h.seq, format_number(h.prefix, h.seq), h.last_seq, null, null
    from headed h
    union all
    select 'unnumbered', s.id, d.account, d.prefix, nullif(substr(d.number, length(d.prefix) + 1), '')::bigint, d.number,
      s.last_seq, d.resource,
      json_build_object(
        'invoice', d.invoice, 'uid', d.uid, 'issuerId', d.issuer, 'externalRef', d.external_ref, 'issuedAt', iso_ms(d.at),
        'frozen', d.frozen
      )
    from documents d
    left join series s on s.account = d.account and s.prefix = d.prefix
  ) g
  order by g.gap, g.series, g.seq, g.resource
  limit in_limit;
end;
