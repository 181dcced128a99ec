-- How anybody recomputes a head, with nothing but sha256 over UTF-8 text:
--   sha256( prev_head \n chain \n seq \n step \n hash [ \n chain \n seq \n step \n hash … ] )
-- of the chains that had gone on since the head before, in the order of their names by bytes; prev_head and hash in lower-case hex,
-- for the first head the sha256 of 'history'. Null: an entry that it rests on is not there.
create or replace function history_link(in_prev bytea, in_marks history_marks[]) returns bytea
language sql stable
return (
  select case when count(*) = count(e.hash) then sha256(convert_to(
    encode(in_prev, 'hex') || string_agg(
      e'\n' || e.chain || e'\n' || e.seq::text || e'\n' || e.step::text || e'\n' || encode(e.hash, 'hex'), ''
      order by e.chain collate "C"
    ), 'UTF8'
  )) end
  from (select m.chain, m.seq, m.step, mark_hash(m.chain, m.seq, m.step) as hash from unnest(in_marks) m) e
);
