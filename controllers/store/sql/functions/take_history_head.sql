-- How far all chains have come: a new head where one of them went on since the last, or else the last again. No row: nothing was
-- ever written in any.
create or replace function take_history_head(in_lease text, in_epoch bigint, in_at timestamptz(3))
returns table (n bigint, at text, head text, chains integer)
language plpgsql
as $$
#variable_conflict use_column
declare
  last history_heads;
  moved history_marks[];
  new_head bytea;
begin
  perform fence(in_lease, in_epoch);
  select h.* into last from history_heads h order by h.n desc limit 1;
  select array_agg(row(coalesce(last.n, 0) + 1, c.chain, c.seq, c.step)::history_marks) into moved
  from (
    select 'audit/' || a.account as chain, a.last_seq as seq, 0 as step from audit_heads a where a.last_seq > 0
    union all
    select 'register/' || s.id, s.last_seq, s.last_step from series s where s.head_hash <> genesis_hash(s.id)
  ) c
  left join lateral (
    select m.seq, m.step from history_marks m where m.chain = c.chain order by m.n desc limit 1
  ) k on true
  where (c.seq, c.step) is distinct from (k.seq, k.step);
  if moved is not null then
    new_head := history_link(coalesce(last.head, genesis_hash('history')), moved);
    if new_head is null then
      raise exception 'the head of a chain names an entry that is not there' using errcode = 'P0001';
    end if;
    insert into history_heads as h (n, at, head) values (coalesce(last.n, 0) + 1, in_at, new_head) returning h.* into last;
    insert into history_marks select m.* from unnest(moved) m;
  end if;
  return query select last.n, iso_ms(last.at), encode(last.head, 'hex'), coalesce(cardinality(moved), 0) where last.n is not null;
end
$$;
