-- How far the platform's clock has been moved forward, on a development installation (runtime/clock.ts). `moves` counts
-- the moves, `settled` is the last one after which everything that fell due was looked at.
create table dev_clock (
  only_row boolean primary key default true check (only_row),
  offset_ms bigint not null check (offset_ms >= 0),
  moves bigint not null,
  settled bigint not null default 0
);

-- Moves the clock of every process, and tells them.
create function move_dev_clock(in_ms bigint) returns table (offset_ms bigint, moves bigint, settled bigint)
language plpgsql
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

-- Everything that fell due by that move has been looked at.
create function settle_dev_clock(in_moves bigint) returns void
language plpgsql
as $$
begin
  update dev_clock set settled = greatest(settled, in_moves);
  perform pg_notify('bottega_clock', '');
end
$$;
