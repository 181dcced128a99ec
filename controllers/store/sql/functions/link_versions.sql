-- {purpose: version} of what was ended of a resource's links, by the facts that say so (crds/values/links.ts); {} where nothing was.
create or replace function link_versions(in_resource text) returns jsonb
language sql stable
as $$
  select coalesce(jsonb_object_agg(v.purpose, v.version), '{}')
  from (
    select f.body ->> 'purpose' as purpose, max((f.body ->> 'version')::bigint) as version
    from facts f
    where f.resource = in_resource and f.kind = 'link' and f.state <> 'refused'
    group by 1
  ) v
$$;
