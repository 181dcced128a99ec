-- Recomputes a whole series, which may begin after 1. first_bad is the first sequence at which something is missing, moved
-- or altered; a tail that was cut off shows against the series' own head. A first entry that went missing shows by its own
-- hash: only the first follows the hash of the series' id.
create or replace function verify_series(in_series_id text)
returns table (count bigint, last bigint, head_hash text, first_bad bigint)
language sql stable
begin atomic
  with entry as (
    select r.*, s.first_seq - 1 + row_number() over w as expected_seq,
      lag(r.hash, 1, genesis_hash(in_series_id)) over w as prev_hash
    from register r join series s on s.id = r.series_id
    where r.series_id = in_series_id
    window w as (order by r.seq)
  ),
  checked as (
    select e.seq, e.expected_seq, e.hash,
      e.seq = e.expected_seq
        and right(e.number, length(format_number('', e.seq))) = format_number('', e.seq)
        and e.hash = link_hash(
          e.prev_hash, register_entry(e.number, e.resource, e.kind, e.total_cents, e.currency, e.issued_at)
        ) as good
    from entry e
  ),
  summary as (
    select count(*) as count, max(c.seq) as last, min(c.expected_seq) filter (where not c.good) as first_bad,
      coalesce((array_agg(c.hash order by c.seq desc))[1], genesis_hash(in_series_id)) as tail_hash
    from checked c
  ),
  told as (
    select m.count, m.first_bad, m.tail_hash, s.last_seq, s.head_hash, coalesce(m.last, s.first_seq - 1) as last
    from summary m, series s where s.id = in_series_id
  )
  select t.count, t.last_seq, encode(t.head_hash, 'hex'),
    coalesce(t.first_bad, case when t.last <> t.last_seq or t.tail_hash <> t.head_hash then t.last + 1 end)
  from told t;
end;
