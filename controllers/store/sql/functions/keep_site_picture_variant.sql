-- One width of a picture in one format. The same bytes come of the same picture, so the first stays.
create or replace function keep_site_picture_variant(in_lease text, in_epoch bigint, in_source text, in_variant json)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_picture_variants (source, format, width, height, sha256, bytes)
  select in_source, r.format, r.width, r.height, r.sha256, r.bytes
  from json_to_record(in_variant) as r(format text, width integer, height integer, sha256 text, bytes integer)
  on conflict do nothing;
end
$$;
