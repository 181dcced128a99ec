-- Has a series count what it has entries of again, where its row was lost or put back alone: it goes on behind its newest entry. Safe to
-- repeat. in_prefix is for a row that is made anew.
create or replace function recount_series(in_lease text, in_epoch bigint, in_series text, in_account text, in_prefix text)
returns void
language plpgsql
as $$
declare
  held series;
  newest register;
begin
  perform fence(in_lease, in_epoch);
  insert into series (id, account, prefix, head_hash, first_seq)
  select in_series, in_account, in_prefix, genesis_hash(in_series), min(r.seq) from register r where r.series_id = in_series
  on conflict (id) do nothing;
  select s.* into held from series s where s.id = in_series for no key update;
  select r.* into newest from register r where r.series_id = in_series order by r.seq desc, r.step desc limit 1;
  if newest.seq is null or (newest.seq, newest.step) <= (held.last_seq, held.last_step) then
    return;
  end if;
  update series s set
    last_seq = newest.seq, last_step = newest.step, head_hash = newest.hash,
    later = (select count(*) from register r where r.series_id = in_series and r.step > 0)
  where s.id = in_series;
end
$$;
