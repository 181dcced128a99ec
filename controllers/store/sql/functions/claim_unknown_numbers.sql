-- As claim_numbers, and no new number is one that somebody is known to have. in_known says for each series up to which they
-- are known; nothing is claimed when one is not above it.
create or replace function claim_unknown_numbers(
  in_lease text, in_epoch bigint, in_series_ids text[], in_accounts text[], in_prefixes text[],
  in_places integer[], in_resources text[], in_uids text[], in_kinds text[], in_total_cents bigint[],
  in_currencies text[], in_issued_at timestamptz(3)[], in_claimed jsonb[], in_known bigint[]
)
returns table (seq bigint, number text, held_series text, held_at text)
language plpgsql
as $$
#variable_conflict use_column
declare
  place integer := 0;
begin
  for seq, number, held_series, held_at in
    select c.seq, c.number, c.held_series, c.held_at
    from claim_numbers(
      in_lease, in_epoch, in_series_ids, in_accounts, in_prefixes, in_places, in_resources, in_uids, in_kinds,
      in_total_cents, in_currencies, in_issued_at, in_claimed
    ) c
  loop
    place := place + 1;
    if held_series is null and seq <= in_known[in_places[place]] then
      raise exception 'series % is at %, and % is known', in_series_ids[in_places[place]], seq - 1,
        in_known[in_places[place]] using errcode = '23514', constraint = 'series_known';
    end if;
    return next;
  end loop;
end
$$;
