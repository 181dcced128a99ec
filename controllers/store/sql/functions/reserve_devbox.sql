-- Takes a name and a part of the cap, all or nothing. The api does it before it writes the resource, the controllers
-- (with an epoch) for a resource that came by kubectl. Gives 'reserved', 'held' (it was before), or what is in the way:
-- CAP_EXCEEDED, NAME_TAKEN. `others` is what the owner's other instances are committed to.
create or replace function reserve_devbox(
  in_lease text, in_epoch bigint, in_resource text, in_account text, in_name text, in_committed bigint, in_cap bigint,
  in_pricing_version text, in_at timestamptz(3)
)
returns table (outcome text, others bigint)
language plpgsql security definer set search_path = public, pg_temp
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
    and not has_come('DevInstance', d.resource);
  others := devbox_committed(in_account, in_resource);
  select d.* into held from devboxes d where d.resource = in_resource for update;
  -- What still costs must not lose its record: of one that was deleted, too, should something have been seen since.
  if found and (held.deleted_at is null or held.committed_micro_usd > 0) then
    outcome := case when held.account = in_account and held.deleted_at is null then 'held' else 'NAME_TAKEN' end;
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
