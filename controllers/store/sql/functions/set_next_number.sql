-- Where the register of an issuer stands in the year of `in_series`: null, or why the next number cannot be `in_next`.
-- Forward only, and only before the first number of the year was given.
create or replace function set_next_number(in_account text, in_series text, in_prefix text, in_next bigint) returns text
language plpgsql
as $$
declare
  held series;
begin
  select s.* into held from series s where s.id = in_series for no key update;
  if in_next = coalesce(held.last_seq, 0) + 1 then
    return null;
  elsif in_next <= coalesce(held.last_seq, 0) or held.last_seq >= held.first_seq then
    return 'NEXT_NUMBER_FIXED';
  end if;
  insert into series as s (id, account, prefix, first_seq, last_seq, head_hash)
  values (in_series, in_account, in_prefix, in_next, in_next - 1, genesis_hash(in_series))
  on conflict (id) do update set first_seq = excluded.first_seq, last_seq = excluded.last_seq
    where s.last_seq < s.first_seq and s.last_seq < excluded.last_seq;
  -- Somebody's first claim came in between.
  return case when found then null else 'NEXT_NUMBER_FIXED' end;
end
$$;
