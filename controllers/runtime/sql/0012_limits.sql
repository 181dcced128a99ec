-- Wrong passwords and codes within the present minute (api/auth/attempts.ts). What expired is of no use: a crash may lose
-- this table, so it is not logged.
create unlogged table attempts (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- A place under the account's cap of sends of one day (UTC), taken before the send is asked for. One per send for ever,
-- so a repeat is free. `day` is fixed when it is taken.
create table send_slots (
  resource text not null,
  n integer not null,
  account text not null,
  day date not null,
  taken_at timestamptz(3) not null default now(),
  primary key (resource, n)
);
create index send_slots_of_day on send_slots (account, day);

-- How many places are taken: one row to lock for all who want one of the same account.
create table send_days (
  account text not null,
  day date not null,
  used integer not null,
  primary key (account, day)
) with (fillfactor = 40);

-- Gives back the places whose resource never came: not sent, and taken so long ago that nobody is still at it.
create function lapse_send_slots(in_account text, in_day date) returns void
language sql volatile
begin atomic
  with lapsed as (
    delete from send_slots s
    where s.account = in_account and s.day = in_day and s.taken_at < now() - interval '10 minutes'
      and not exists (select from mirror m where m.kind = 'Invoice' and m.name = s.resource)
      and not exists (select from register r where r.resource = s.resource)
    returning 1
  )
  update send_days d set used = d.used - (select count(*)::integer from lapsed)
  where d.account = in_account and d.day = in_day and exists (select from lapsed);
end;

-- Takes a place for each send, in the order given; answers in that order: 'taken', 'held' (it was before), 'refused'.
create function take_send_slots(
  in_resources text[], in_ns integer[], in_accounts text[], in_days date[], in_limits integer[]
)
returns table (outcome text)
language plpgsql
as $$
#variable_conflict use_column
declare
  one record;
  outcomes text[];
begin
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

-- The send was refused or never asked for: its place is free again, unless the document was frozen.
create function give_back_send_slot(in_resource text, in_n integer) returns table (given boolean)
language plpgsql
as $$
#variable_conflict use_column
declare
  slot record;
begin
  delete from send_slots s
  where s.resource = in_resource and s.n = in_n
    and not exists (select from sends t where t.resource = in_resource and t.n = in_n)
  returning s.account, s.day into slot;
  if not found then
    return query select false;
    return;
  end if;
  update send_days d set used = greatest(0, d.used - 1) where d.account = slot.account and d.day = slot.day;
  return query select true;
end
$$;

-- What a pass over invoices reads, in one round trip: the ledger's part, the issuer's profile, and whether the first send
-- has its place under the cap.
create function observe_invoices(in_resources text[], in_accounts text[], in_issuers text[])
returns table (
  resource text, record json, sends json, facts json, deliveries json, profile jsonb, has_place boolean
)
language plpgsql stable
as $$
begin
  return query
  select o.*, (select i.profile from issuers i where i.account = k.account and i.id = k.issuer),
    exists (select from send_slots s where s.resource = k.resource and s.n = 1)
  from observe_resources(in_resources) o
  join unnest(in_resources, in_accounts, in_issuers) as k(resource, account, issuer) on k.resource = o.resource;
end
$$;
