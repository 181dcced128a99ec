-- How far the platform's clock has been moved forward, on a development installation (runtime/clock.ts). `moves` counts
-- the moves, `settled` is the last one after which everything that fell due was looked at.
create table dev_clock (
  only_row boolean primary key default true check (only_row),
  offset_ms bigint not null check (offset_ms >= 0),
  moves bigint not null,
  settled bigint not null default 0
);
