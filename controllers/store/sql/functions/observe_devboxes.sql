-- All that a pass needs to know, one row per resource asked for.
create or replace function observe_devboxes(in_resources text[])
returns table (resource text, record json, pending json, last_report json, fact_seq bigint)
language plpgsql stable
as $$
begin
  return query
  select a.resource,
    (
      select json_build_object('uid', d.uid, 'rev', d.rev, 'pricingVersion', d.pricing_version, 'box', d.box,
        'othersMicroUsd', devbox_committed(d.account, d.resource))
      from devboxes d where d.resource = a.resource and (d.deleted_at is null or d.box is not null)
    ),
    (
      select json_agg(json_build_object(
        'seq', f.seq, 'key', f.key, 'kind', f.kind, 'body', f.body, 'at', iso_ms(f.at)
      ) order by f.seq)
      from facts f where f.resource = a.resource and f.state = 'pending'
    ),
    (
      select json_build_object('at', iso_ms(r.received_at), 'body', r.body, 'usedAt', iso_ms(r.used_at),
        'attestedAt', iso_ms(r.attested_at))
      from devbox_report_heads r where r.resource = a.resource
    ),
    coalesce((select max(f.seq) from facts f where f.resource = a.resource), 0)
  from unnest(in_resources) as a(resource);
end
$$;
