create or replace function app_release_row(in_release app_releases) returns json
language sql stable
return json_build_object(
  'number', in_release.number, 'id', in_release.id, 'operation', in_release.operation, 'state', in_release.state,
  'reason', in_release.reason, 'logTail', in_release.log_tail, 'restoredFrom', in_release.restored_from,
  'source', in_release.source, 'envVersion', in_release.env_version, 'record', in_release.record,
  'digest', in_release.digest, 'address', in_release.address, 'createdAt', iso_ms(in_release.created_at),
  'liveAt', iso_ms(in_release.live_at), 'supersededAt', iso_ms(in_release.superseded_at),
  'retiredAt', iso_ms(in_release.retired_at),
  -- with the limit a look-up by key, as in observe_invoices
  'sourceKept', coalesce((
    select true from app_sources s join app_operations o on o.account = s.account
    where o.id = in_release.operation and s.digest = in_release.source limit 1
  ), false)
);
