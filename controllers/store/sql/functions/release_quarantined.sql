-- Has what was set aside tried again, now; what fails again is set aside anew. A delivery begins its schedule anew, where its
-- endpoint takes any; of a document a fact says that it is released, where its invoice is still there to be worked on.
-- Gives false where nothing of that id is set aside, or nothing is left to be tried.
create or replace function release_quarantined(in_id bigint, in_by text, in_now timestamptz(3)) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  held quarantine;
begin
  select q.* into held from quarantine q where q.id = in_id and q.released_at is null for update;
  if not found then
    return false;
  end if;
  if held.source = 'delivery' then
    insert into deliveries (endpoint, account, sequence, attempt, is_last, due_at, created_at)
    select d.endpoint, d.account, d.sequence, 1, false, in_now, in_now
    from deliveries d join webhook_endpoints w on w.id = d.endpoint
    where d.id = held.source_id and w.disabled_at is null;
  elsif held.source = 'document' then
    if not exists (select from mirror m where m.kind = held.kind and m.name = held.resource and not m.archived) then
      return false;
    end if;
    perform from append_facts(null, null, json_build_array(json_build_object(
      'resource', held.resource, 'resourceKind', held.kind, 'key', 'redraw:' || held.id, 'kind', 'redraw',
      'writtenBy', 'api', 'body', json_build_object('digest', held.subject), 'state', 'accepted', 'at', in_now
    )));
  else
    -- The count of its attempts goes on: what is remembered of the earlier ones holds for it as before.
    update outbox o set state = 'queued', due_at = in_now, settled_at = null
    where o.id = held.source_id and o.state in ('failed', 'unknown') and o.due_at is null;
  end if;
  if not found then
    return false;
  end if;
  update quarantine q set released_at = in_now, released_by = in_by where q.id = in_id;
  return true;
end
$$;
