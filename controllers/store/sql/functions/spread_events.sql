-- Gives what the state machines have told since the last call its place, and each endpoint that wants it a delivery: events
-- of one account one after the other, as they were committed, and those of one object in their order. Where one of them
-- cannot be told, each is told alone, and that one tried again later, a few times, and then set aside.
-- Gives how many there were, and the endpoints that have something to be sent.
create or replace function spread_events(in_lease text, in_epoch bigint, in_now timestamptz(3), in_limit integer)
returns table (spread integer, endpoints text[])
language plpgsql
as $$
#variable_conflict use_column
declare
  ids bigint[];
  one bigint;
  told integer := 0;
  wanted text[] := '{}';
  alone record;
begin
  perform fence(in_lease, in_epoch);
  select array_agg(d.id order by d.id) into ids
  from (
    select o.id from outbox o
    where o.channel = 'event' and o.due_at <= in_now
    order by o.due_at, o.id
    limit in_limit
  ) d;
  if ids is null then
    return query select 0, wanted;
    return;
  end if;
  begin
    select s.spread, s.endpoints into told, wanted from spread_rows(ids, in_now) s;
    return query select told, wanted;
    return;
  exception when data_exception or integrity_constraint_violation or raise_exception then
    told := 0;
    wanted := '{}';
  end;
  foreach one in array ids loop
    begin
      select s.spread, s.endpoints into alone from spread_rows(array[one], in_now) s;
      wanted := wanted || alone.endpoints;
    exception when data_exception or integrity_constraint_violation or raise_exception then
      perform put_off_outbox(one, sqlerrm, in_now);
    end;
    told := told + 1;
  end loop;
  return query select told, (select coalesce(array_agg(distinct w), '{}') from unnest(wanted) w);
end
$$;
