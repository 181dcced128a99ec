-- A document could not be drawn, through a fault of its own: the try goes on record as a fact of its invoice, and after the last one
-- the document is set aside. in_subject names the document among those of the invoice. Safe to repeat.
create or replace function put_off_drawing(
  in_lease text, in_epoch bigint, in_kind text, in_resource text, in_account text, in_subject text, in_key text,
  in_reason text, in_tries integer, in_is_last boolean, in_now timestamptz(3)
) returns void
language plpgsql
as $$
begin
  -- fences, and takes the lock of the resource
  perform from append_facts(in_lease, in_epoch, json_build_array(json_build_object(
    'resource', in_resource, 'resourceKind', in_kind, 'key', in_key, 'kind', 'undrawable', 'writtenBy', 'controller',
    'body', json_build_object('digest', in_subject, 'failed', left(in_reason, 500)), 'state', 'accepted', 'at', in_now
  )));
  if not in_is_last then
    return;
  end if;
  insert into quarantine (source, source_id, kind, resource, account, reason, tries, at, subject)
  values (
    'document', nextval('quarantined_documents'), in_kind, in_resource, in_account, left(in_reason, 500), in_tries, in_now,
    in_subject
  )
  on conflict (resource, subject) where released_at is null and source = 'document' do nothing;
end
$$;
