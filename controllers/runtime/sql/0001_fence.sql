-- One row per lease. Who takes a lease raises its epoch; every effect statement carries the epoch it was started under.
create table epochs (
  lease text primary key check (lease <> ''),
  epoch bigint not null check (epoch > 0),
  holder text not null,
  taken_at timestamptz(3) not null default now()
);

-- Effects hold this lock in share mode, whoever takes the epoch holds it alone. An advisory lock, because a lock on the
-- row would be a write to it for every effect.
create function epoch_lock(in_lease text) returns bigint
language sql immutable
return hashtextextended('epoch/' || in_lease, 0);

-- Waits for all effects in flight.
create function take_epoch(in_lease text, in_holder text) returns bigint
language sql
begin atomic
  select pg_advisory_xact_lock(epoch_lock(in_lease));
  insert into epochs as e (lease, epoch, holder) values (in_lease, 1, in_holder)
  on conflict (lease) do update set epoch = e.epoch + 1, holder = excluded.holder, taken_at = now()
  returning epoch;
end;

-- Refuses an effect of a holder that is no longer the newest. The lock is held until the effect's transaction ends, so
-- that no newer holder begins while an older one's effect is half done. It comes first: what is read after it is current.
create function fence(in_lease text, in_epoch bigint) returns void
language plpgsql
as $$
declare
  current_epoch bigint;
begin
  perform pg_advisory_xact_lock_shared(epoch_lock(in_lease));
  select e.epoch into current_epoch from epochs e where e.lease = in_lease;
  if current_epoch is distinct from in_epoch then
    raise exception 'epoch % of lease % is stale, the present one is %',
      coalesce(in_epoch::text, '(none)'), in_lease, coalesce(current_epoch::text, '(none)')
      using errcode = 'BT001';
  end if;
end
$$;

-- For tables whose rows are records: what was written stays.
create function refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'P0001';
end
$$;
