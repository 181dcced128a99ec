-- Why a fact was refused, with the figures: for the answer to whoever reported it.
alter table facts add column refused_detail text;

-- One row to lock for all who change what an owner is committed to.
create table devbox_owners (account text primary key);

-- The row of a dev instance: what its accepted facts add up to, and what must be unique or bounded beyond one instance.
create table devboxes (
  resource text primary key,
  account text not null,
  -- Of the resource that entered it.
  uid text,
  name text not null,
  -- What counts against the owner's cap; 0 once nothing can cost any more.
  committed_micro_usd bigint not null check (committed_micro_usd >= 0),
  pricing_version text not null,
  -- Decisions so far: each is made against the one before.
  rev bigint not null default 0,
  -- Null: reserved, and its resource has not been seen by the controllers.
  box jsonb,
  instance_id text,
  teams text[] not null default '{}',
  token_hash bytea check (length(token_hash) = 32),
  reserved_at timestamptz(3) not null,
  -- A tombstone frees the name; the row is kept.
  deleted_at timestamptz(3),
  constraint devbox_is_sound check (resource <> '' and account <> '' and name <> '')
) with (fillfactor = 60);
create unique index devbox_name on devboxes (account, lower(name)) where deleted_at is null;
-- Identity is the instance's id, never its name or address.
create unique index devbox_instance on devboxes (instance_id) where instance_id is not null;
create index devbox_of_account on devboxes (account, resource) where deleted_at is null;
create index devbox_of_teams on devboxes using gin (teams) where deleted_at is null;
create trigger devboxes_are_kept before truncate on devboxes for each statement execute function refuse_change();

-- Every address that was ever held, from when until when. What is held, is held by one.
create table devbox_addresses (
  resource text not null,
  allocation_id text not null,
  public_ip text not null,
  held_from timestamptz(3) not null,
  released_at timestamptz(3),
  primary key (resource, allocation_id, held_from)
);
create unique index devbox_allocation on devbox_addresses (allocation_id) where released_at is null;
create unique index devbox_public_ip on devbox_addresses (public_ip) where released_at is null;

create table devbox_history (
  resource text not null,
  n bigint not null,
  kind text not null,
  at timestamptz(3) not null,
  -- The account and the credential that said it; null: the operator itself.
  said_by jsonb,
  version bigint not null,
  data jsonb not null,
  primary key (resource, n)
);
create trigger devbox_history_is_append_only before update or delete on devbox_history
  for each row execute function refuse_change();
create trigger devbox_history_is_never_emptied before truncate on devbox_history
  for each statement execute function refuse_change();

-- Environments, sealed under a data key of their own, which is wrapped: with the row both are gone. The fact that names
-- the key makes it the present one.
create table devbox_envs (
  resource text not null,
  key text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  primary key (resource, key)
);

-- The latest report, and a ring of those before it. High volume and of no value later: a crash may lose some.
create table devbox_report_heads (
  resource text primary key,
  n bigint not null,
  received_at timestamptz(3) not null,
  body jsonb not null
) with (fillfactor = 50);
create table devbox_reports (
  resource text not null,
  slot integer not null,
  received_at timestamptz(3) not null,
  body jsonb not null,
  primary key (resource, slot)
) with (fillfactor = 50);

create function lock_devbox_owner(in_account text) returns void
language plpgsql
as $$
begin
  insert into devbox_owners (account) values (in_account) on conflict do nothing;
  perform from devbox_owners o where o.account = in_account for update;
end
$$;

create function devbox_committed(in_account text, in_but_not text) returns bigint
language sql stable
begin atomic
  select coalesce(sum(d.committed_micro_usd), 0)::bigint from devboxes d
  where d.account = in_account and d.deleted_at is null and d.resource <> in_but_not;
end;

-- Takes a name and a part of the cap, all or nothing. The api does it before it writes the resource, the controllers
-- (with an epoch) for a resource that came by kubectl. Gives 'reserved', 'held' (it was before), or what is in the way:
-- CAP_EXCEEDED, NAME_TAKEN. `others` is what the owner's other instances are committed to.
create function reserve_devbox(
  in_lease text, in_epoch bigint, in_resource text, in_account text, in_name text, in_committed bigint, in_cap bigint,
  in_pricing_version text, in_at timestamptz(3)
)
returns table (outcome text, others bigint)
language plpgsql
as $$
declare
  held devboxes;
begin
  if in_epoch is not null then
    perform fence(in_lease, in_epoch);
  end if;
  perform lock_devbox_owner(in_account);
  -- Reservations whose resource never came.
  delete from devboxes d
  where d.account = in_account and d.box is null and d.deleted_at is null and d.resource <> in_resource
    and d.reserved_at < in_at - interval '10 minutes'
    and not exists (select from mirror m where m.kind = 'DevInstance' and m.name = d.resource);
  others := devbox_committed(in_account, in_resource);
  select d.* into held from devboxes d where d.resource = in_resource for update;
  if found and held.deleted_at is null then
    outcome := case when held.account = in_account then 'held' else 'NAME_TAKEN' end;
    return next;
    return;
  end if;
  if others + in_committed > in_cap then
    outcome := 'CAP_EXCEEDED';
    return next;
    return;
  end if;
  begin
    insert into devboxes (resource, account, name, committed_micro_usd, pricing_version, reserved_at)
    values (in_resource, in_account, in_name, in_committed, in_pricing_version, in_at)
    -- The name of a resource that was deleted may come again: a new instance under it.
    on conflict (resource) do update set
      account = excluded.account, uid = null, name = excluded.name, committed_micro_usd = excluded.committed_micro_usd,
      pricing_version = excluded.pricing_version, rev = devboxes.rev + 1, box = null, instance_id = null, teams = '{}',
      token_hash = null, reserved_at = excluded.reserved_at, deleted_at = null;
    outcome := 'reserved';
  exception when unique_violation then
    outcome := 'NAME_TAKEN';
  end;
  return next;
end
$$;

-- The resource was refused: what was reserved for it is free again, unless the controllers have seen it.
create function release_devbox_reservation(in_resource text) returns void
language sql
begin atomic
  delete from devboxes d where d.resource = in_resource and d.box is null and d.deleted_at is null;
end;

-- Writes one decision, all or nothing: the fact's verdict, the row, the addresses, the history, the event. Decided against
-- in_rev; whoever comes with an older one looks again. Gives 'settled', 'stale', or what forbids it beyond this instance:
-- CAP_EXCEEDED (unless in_over: an admin's override), or the name of the unique index that is in the way.
--   in_seq    the pending fact that is decided; null: in_fact is written as the operator's own
--   in_told   [{kind, data}] for the history; in_event as for tell_event, or null
create function settle_devbox(
  in_lease text, in_epoch bigint, in_resource text, in_rev bigint, in_seq bigint, in_fact json, in_state text,
  in_code text, in_detail text, in_uid text, in_box jsonb, in_committed bigint, in_cap bigint, in_over boolean,
  in_said_by jsonb, in_told json, in_event json, in_at timestamptz(3)
)
returns table (outcome text, others bigint)
language plpgsql
as $$
declare
  owner text;
  held devboxes;
begin
  perform fence(in_lease, in_epoch);
  outcome := 'stale';
  others := 0;
  select d.account into owner from devboxes d where d.resource = in_resource;
  if found then
    perform lock_devbox_owner(owner);
    select d.* into held from devboxes d where d.resource = in_resource for update;
  end if;
  if held.resource is null or held.rev <> in_rev then
    return next;
    return;
  end if;
  others := devbox_committed(owner, in_resource);

  if in_state = 'accepted' then
    -- What makes it cheaper is never refused, not even above a cap that was lowered since.
    if in_committed > held.committed_micro_usd and others + in_committed > in_cap and not in_over then
      outcome := 'CAP_EXCEEDED';
      return next;
      return;
    end if;
    begin
      update devboxes d set
        uid = in_uid, name = in_box ->> 'name', committed_micro_usd = in_committed, rev = d.rev + 1, box = in_box,
        instance_id = case
          when in_box ->> 'state' <> 'terminated' and in_box ->> 'deletedAt' is null then in_box ->> 'instanceId' end,
        teams = array(select jsonb_array_elements_text(in_box -> 'teams')),
        token_hash = decode(in_box ->> 'tokenHash', 'hex'), deleted_at = (in_box ->> 'deletedAt')::timestamptz
      where d.resource = in_resource;
      update devbox_addresses a set released_at = in_at
      where a.resource = in_resource and a.released_at is null and not exists (
        select from jsonb_array_elements(in_box -> 'held') h where h ->> 'eipAllocId' = a.allocation_id
      );
      insert into devbox_addresses (resource, allocation_id, public_ip, held_from)
      select in_resource, h ->> 'eipAllocId', h ->> 'publicIp', (h ->> 'heldFrom')::timestamptz
      from jsonb_array_elements(in_box -> 'held') h
      where not exists (
        select from devbox_addresses a
        where a.resource = in_resource and a.allocation_id = h ->> 'eipAllocId' and a.released_at is null
      );
    exception when unique_violation then
      get stacked diagnostics outcome = constraint_name;
      return next;
      return;
    end;
    -- What was replaced, or belongs to an instance that is gone, can never be read again.
    delete from devbox_envs e
    where e.resource = in_resource and (
      jsonb_typeof(in_box -> 'env') = 'null' and (in_box ->> 'state' = 'terminated' or in_box ->> 'deletedAt' is not null)
      or e.key = held.box -> 'env' ->> 'key' and e.key <> in_box -> 'env' ->> 'key'
    );
    insert into devbox_history (resource, n, kind, at, said_by, version, data)
    select in_resource,
      coalesce((select max(h.n) from devbox_history h where h.resource = in_resource), 0) + t.place,
      t.kind, in_at, in_said_by, (in_box ->> 'version')::bigint, t.data
    from rows from (json_to_recordset(in_told) as (kind text, data jsonb)) with ordinality as t(kind, data, place);
    if in_event is not null then
      perform tell_event(in_resource, 'rev:' || in_rev, in_event, in_at);
    end if;
  else
    update devboxes d set rev = d.rev + 1 where d.resource = in_resource;
  end if;

  if in_seq is null then
    perform append_facts(in_lease, in_epoch, json_build_array(in_fact));
  else
    update facts f set state = in_state, refused_code = in_code, refused_detail = in_detail, decided_at = in_at
    where f.resource = in_resource and f.seq = in_seq and f.state = 'pending';
  end if;
  outcome := 'settled';
  return next;
end
$$;

-- All that a pass needs to know, one row per resource asked for.
create function observe_devboxes(in_resources text[])
returns table (resource text, record json, pending json, last_report json, fact_seq bigint)
language plpgsql stable
as $$
begin
  return query
  select a.resource,
    (
      select json_build_object('uid', d.uid, 'rev', d.rev, 'pricingVersion', d.pricing_version, 'box', d.box)
      from devboxes d where d.resource = a.resource and (d.deleted_at is null or d.box is not null)
    ),
    (
      select json_agg(json_build_object(
        'seq', f.seq, 'key', f.key, 'kind', f.kind, 'body', f.body, 'at', iso_ms(f.at)
      ) order by f.seq)
      from facts f where f.resource = a.resource and f.state = 'pending'
    ),
    (
      select json_build_object('at', iso_ms(r.received_at), 'body', r.body)
      from devbox_report_heads r where r.resource = a.resource
    ),
    coalesce((select max(f.seq) from facts f where f.resource = a.resource), 0)
  from unnest(in_resources) as a(resource);
end
$$;
-- What awaits a verdict is little, however long a history is.
create index facts_pending on facts (resource, seq) where state = 'pending';

-- Keeps a report: as the latest, and in the ring of the last in_ring. Gives the one before it.
create function report_devbox(in_resource text, in_body jsonb, in_at timestamptz(3), in_ring integer)
returns table (previous json)
language plpgsql
as $$
declare
  held devbox_report_heads;
  next_n bigint;
begin
  insert into devbox_report_heads (resource, n, received_at, body) values (in_resource, 1, in_at, in_body)
  on conflict do nothing;
  if found then
    next_n := 1;
  else
    select h.* into held from devbox_report_heads h where h.resource = in_resource for update;
    next_n := held.n + 1;
    update devbox_report_heads h set n = next_n, received_at = in_at, body = in_body where h.resource = in_resource;
    previous := json_build_object('at', iso_ms(held.received_at), 'body', held.body);
  end if;
  insert into devbox_reports (resource, slot, received_at, body)
  values (in_resource, next_n % in_ring, in_at, in_body)
  on conflict (resource, slot) do update set received_at = excluded.received_at, body = excluded.body;
  return next;
end
$$;
