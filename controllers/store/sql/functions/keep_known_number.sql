-- Numbers that are known only ever rise: an older sight of a resource takes nothing back.
create or replace function keep_known_number(in_lease text, in_epoch bigint, in_account text, in_prefix text, in_seq bigint)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into known_numbers as k (account, prefix, seq) values (in_account, in_prefix, in_seq)
  on conflict (account, prefix) do update set seq = excluded.seq where k.seq < excluded.seq;
end
$$;
