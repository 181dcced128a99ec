-- Moves the clock of every process, and tells them.
create or replace function move_dev_clock(in_ms bigint) returns table (offset_ms bigint, moves bigint, settled bigint)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  perform pg_notify('bottega_clock', '');
  return query
  insert into dev_clock as c (offset_ms, moves) values (in_ms, 1)
  on conflict (only_row) do update set offset_ms = c.offset_ms + excluded.offset_ms, moves = c.moves + 1
  returning c.offset_ms, c.moves, c.settled;
end
$$;
