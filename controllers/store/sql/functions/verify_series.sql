-- Recomputes a whole series, which may begin after 1. count is of its numbers, first_bad the first sequence at which something
-- is missing, moved or altered; a tail that was cut off shows against the series' own head. A first entry that went missing
-- shows by its own hash: only the first follows the hash of the series' id. A later entry tells of a number that is there.
create or replace function verify_series(in_series_id text)
returns table (count bigint, last bigint, head_hash text, first_bad bigint)
language sql stable
begin atomic
  with entry as (
    select r.*, lag(r.seq, 1, s.first_seq - 1) over w as seq_before, lag(r.step, 1, 0) over w as step_before,
      lag(r.hash, 1, genesis_hash(in_series_id)) over w as prev_hash
    from register r join series s on s.id = r.series_id
    where r.series_id = in_series_id
    window w as (order by r.seq, r.step)
  ),
  checked as (
    select e.seq, e.step, e.hash, case when e.step = 0 then e.seq_before + 1 else e.seq_before end as expected_seq,
      case
        when e.step = 0 then e.seq = e.seq_before + 1
          and right(e.number, length(format_number('', e.seq))) = format_number('', e.seq)
        else e.seq = e.seq_before and e.step = e.step_before + 1 and exists (
          select from register n
          where n.resource = e.resource and n.step = 0 and n.series_id = in_series_id and n.number = e.number
            and n.seq <= e.seq
        )
      end and e.hash = link_hash(
        e.prev_hash,
        register_line(e.number, e.resource, e.kind, e.total_cents, e.currency, e.issued_at, e.entry, e.reference)
      ) as good
    from entry e
  ),
  summary as (
    select count(*) filter (where c.step = 0) as count, max(c.seq) as last,
      min(c.expected_seq) filter (where not c.good) as first_bad,
      coalesce((array_agg(c.hash order by c.seq desc, c.step desc))[1], genesis_hash(in_series_id)) as tail_hash
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
