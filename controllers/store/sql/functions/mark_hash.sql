-- The hash of one entry of a chain, which a head of history rests on: `audit/<account>` or `register/<series>`. Null: it is not there.
create or replace function mark_hash(in_chain text, in_seq bigint, in_step integer) returns bytea
language sql stable
return case split_part(in_chain, '/', 1)
  when 'audit' then (select a.hash from audit a where a.account = substr(in_chain, 7) and a.seq = in_seq)
  else (
    select r.hash from register r where r.series_id = substr(in_chain, 10) and r.seq = in_seq and r.step = in_step
  )
end;
