-- What stands on the document of these bytes; nothing when this invoice has no such document.
create or replace function frozen_document(in_resource text, in_sha256 text)
returns table (frozen jsonb)
language sql stable
as $$
  select s.frozen from sends s where s.resource = in_resource and s.sha256 = decode(in_sha256, 'hex')
  union all
  select s.frozen from snapshots s where s.resource = in_resource and s.sha256 = decode(in_sha256, 'hex')
  limit 1
$$;
