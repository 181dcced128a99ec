-- All heads, each as it was written and as it follows from the entries that stand there now; null where one of those is missing, and
-- of all heads behind it.
create or replace function history_anew()
returns table (n bigint, at text, written text, anew text)
language plpgsql stable
as $$
#variable_conflict use_column
declare
  one record;
  link bytea := genesis_hash('history');
begin
  for one in
    select h.n, h.at, h.head, array_agg(m) filter (where m.n is not null) as marks
    from history_heads h left join history_marks m on m.n = h.n group by h.n order by h.n
  loop
    link := history_link(link, one.marks);
    return query select one.n, iso_ms(one.at), encode(one.head, 'hex'), encode(link, 'hex');
  end loop;
end
$$;
