create or replace function put_site_rendering(in_lease text, in_epoch bigint, in_rendering json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_renderings (
    site, input, digest, neutral, name, hostname, template, manifest, files, bytes, warnings, is_first
  )
  select r.site, r.input, r.digest, r.neutral, r.name, r.hostname, r.template, r.manifest, r.files, r.bytes, r.warnings,
    coalesce(r."isFirst", false)
  from json_to_record(in_rendering) as r(
    site text, input text, digest text, neutral text, name text, hostname text, template text, manifest text,
    files integer, bytes bigint, warnings json, "isFirst" boolean
  )
  on conflict do nothing;
end
$$;
