-- Recomputes a whole chain. first_bad is the first seq at which something is missing, moved or altered; a tail that was
-- cut off shows against the account's own head. No row: the account has no chain yet.
create or replace function verify_audit(in_account text)
returns table (count bigint, head_hash text, first_bad bigint)
language sql stable
begin atomic
  with checked as (
    select a.seq, a.hash, row_number() over w as expected_seq,
      a.seq = row_number() over w and a.hash = link_hash(
        lag(a.hash, 1, genesis_hash('audit/' || in_account)) over w,
        audit_entry(a.account, a.seq, a.at, a.once, a.entry)
      ) as good
    from audit a where a.account = in_account
    window w as (order by a.seq)
  ),
  summary as (
    select count(*) as count, coalesce(max(c.seq), 0) as last,
      min(c.expected_seq) filter (where not c.good) as first_bad,
      coalesce((array_agg(c.hash order by c.seq desc))[1], genesis_hash('audit/' || in_account)) as tail_hash
    from checked c
  )
  select m.count, encode(coalesce(h.head_hash, m.tail_hash), 'hex'),
    coalesce(
      m.first_bad,
      case when m.last <> coalesce(h.last_seq, 0) or m.tail_hash <> coalesce(h.head_hash, m.tail_hash)
        then m.last + 1 end
    )
  from summary m left join audit_heads h on h.account = in_account;
end;
