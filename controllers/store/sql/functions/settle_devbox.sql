-- Writes one decision, all or nothing: the fact's verdict, the row, the addresses, the history, the event. Decided against
-- in_rev; whoever comes with an older one looks again. Gives 'settled', 'stale', or what forbids it beyond this instance:
-- CAP_EXCEEDED (unless in_over: an admin's override), or the name of the unique index that is in the way.
--   in_seq    the pending fact that is decided; null: in_fact is written as the operator's own
--   in_box    the row as it is then; null where a refusal leaves it as it was. A report that is refused may leave one.
--   in_told   [{kind, data}] for the history; in_event as for tell_event, or null
--   in_outcome  which decision it was, and what was seen around it: with that, facts make the row again; an own fact has it in its body
create or replace function settle_devbox(
  in_lease text, in_epoch bigint, in_resource text, in_rev bigint, in_seq bigint, in_fact json, in_state text,
  in_code text, in_detail text, in_uid text, in_box jsonb, in_committed bigint, in_cap bigint, in_over boolean,
  in_said_by jsonb, in_told json, in_event json, in_at timestamptz(3), in_outcome jsonb
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

  if in_box is not null then
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
        select from jsonb_array_elements(in_box -> 'held') h
        where h ->> 'eipAllocId' = a.allocation_id and h ->> 'publicIp' = a.public_ip
      );
      insert into devbox_addresses (resource, allocation_id, public_ip, held_from)
      select in_resource, h ->> 'eipAllocId', h ->> 'publicIp', (h ->> 'heldFrom')::timestamptz
      from jsonb_array_elements(in_box -> 'held') h
      where not exists (
        select from devbox_addresses a
        where a.resource = in_resource and a.allocation_id = h ->> 'eipAllocId' and a.released_at is null
      );
      -- Only what this decision brings is new: of those that were the same before anybody looked, one has it.
      delete from devbox_host_keys k
      where k.resource = in_resource and (
        in_box ->> 'state' = 'terminated' or in_box ->> 'deletedAt' is not null
        or not in_box -> 'hostKeys' ? k.fingerprint
      );
      if in_box ->> 'state' <> 'terminated' and in_box ->> 'deletedAt' is null then
        insert into devbox_host_keys (fingerprint, resource)
        select n.fingerprint, in_resource
        from jsonb_array_elements_text(in_box -> 'hostKeys') as n(fingerprint)
        where not coalesce(held.box -> 'hostKeys' ? n.fingerprint, false)
        group by n.fingerprint;
      end if;
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
    update facts f set
      state = in_state, refused_code = in_code, refused_detail = in_detail, decided_at = in_at, outcome = in_outcome
    where f.resource = in_resource and f.seq = in_seq and f.state = 'pending';
  end if;
  outcome := 'settled';
  return next;
end
$$;
