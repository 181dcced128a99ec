-- Takes a place for each send, in the order given; answers in that order: 'taken', 'held' (it was before), 'refused'.
create or replace function take_send_slots(
  in_resources text[], in_ns integer[], in_accounts text[], in_days date[], in_limits integer[]
)
returns table (outcome text)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  one record;
  outcomes text[];
begin
  -- A place is held before anything is made, and is on disk before anybody is answered: the audit behind it is. One that a crash of the
  -- database took was for a send that nobody had heard of yet; its pass takes it again (hack/decisions/046).
  set local synchronous_commit = off;
  -- In the order of the accounts, so that two takers never wait for one another in a circle.
  for one in
    select w.resource, w.n, w.account, w.day, w.allowed, w.position
    from unnest(in_resources, in_ns, in_accounts, in_days, in_limits) with ordinality
      as w(resource, n, account, day, allowed, position)
    order by w.account, w.day, w.position
  loop
    if exists (select from send_slots s where s.resource = one.resource and s.n = one.n) then
      outcomes[one.position] := 'held';
      continue;
    end if;
    update send_days d set used = d.used + 1
    where d.account = one.account and d.day = one.day and d.used < one.allowed;
    if not found then
      -- The first of the day, or none is left.
      insert into send_days (account, day, used) values (one.account, one.day, 0) on conflict do nothing;
      perform lapse_send_slots(one.account, one.day);
      update send_days d set used = d.used + 1
      where d.account = one.account and d.day = one.day and d.used < one.allowed;
    end if;
    if not found then
      outcomes[one.position] := 'refused';
      continue;
    end if;
    insert into send_slots (resource, n, account, day) values (one.resource, one.n, one.account, one.day)
    on conflict do nothing;
    if found then
      outcomes[one.position] := 'taken';
    else
      -- Somebody took it for the same send while we waited for the account's row.
      update send_days d set used = d.used - 1 where d.account = one.account and d.day = one.day;
      outcomes[one.position] := 'held';
    end if;
  end loop;
  for place in 1..cardinality(in_resources) loop
    outcome := outcomes[place];
    return next;
  end loop;
end
$$;
