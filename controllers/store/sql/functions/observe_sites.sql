-- All that a pass over sites reads, one row per site.
create or replace function observe_sites(in_sites text[], in_accounts text[])
returns table (
  site text, facts json, renderings json, names json, has_place boolean, places json, turn json, brand jsonb, base json
)
language plpgsql stable
as $$
begin
  return query
  select k.site, o.facts,
    (
      select json_agg(json_build_object(
        'input', r.input, 'digest', r.digest, 'neutral', r.neutral, 'name', r.name, 'hostname', r.hostname,
        'template', r.template, 'manifest', r.manifest, 'files', r.files, 'bytes', r.bytes, 'warnings', r.warnings,
        'isFirst', r.is_first, 'at', iso_ms(r.rendered_at)
      ) order by r.place)
      from site_renderings r where r.site = k.site
    ),
    (
      select json_agg(json_build_object(
        'name', n.name, 'settled', n.reserved_until is null, 'state', n.state, 'proof', n.proof,
        'changedAt', iso_ms(n.changed_at), 'seenAt', iso_ms(n.seen_at), 'missingSince', iso_ms(n.missing_since),
        'until', iso_ms(n.until), 'lookedAt', iso_ms(n.looked_at), 'dueAt', iso_ms(n.due_at), 'reason', n.reason, 'spare', n.spare,
        'checks', n.checks,
        'routed', coalesce((
          select true from host_routes r
          join host_names h on h.host = r.host and h.id = r.id
          where r.owner = 'Site/' || k.site and is_name_of(n.name, h.hostname) limit 1
        ), false)
      ) order by n.name)
      from site_names n where n.site = k.site and n.state <> 'quarantined'
    ),
    -- with the limit a look-up by key, as in observe_invoices
    coalesce((select true from site_places p where p.site = k.site limit 1), false),
    (select json_agg(p.digest order by p.taken_at) from publish_places p where p.site = k.site),
    (
      select json_build_object(
        'host', q.host, 'digest', q.digest, 'stage', q.stage, 'since', iso_ms(q.entered_at),
        'place', 1 + (
          select count(*) from site_queue e
          where e.host = q.host and e.stage = 'waiting' and e.place < q.place
            and not exists (select from mirror_lost l where l.kind = 'Site' and l.name = e.site)
        )
      )
      from site_queue q where q.site = k.site
    ),
    (select b.tokens from site_brands b where b.account = k.account),
    (
      select json_build_object('domain', substr(n.name, 3), 'state', n.state) from site_names n
      where n.account = k.account and starts_with(n.name, '*.') and n.state in ('verified', 'missing', 'lapsed')
      order by n.asked_at desc limit 1
    )
  from observe_resources(in_sites) o
  join unnest(in_sites, in_accounts) as k(site, account) on k.site = o.resource;
end
$$;
