-- What there is of a picture now; what was there before stays. in_parts  {original?, quick?, image?}
create or replace function keep_site_picture(in_lease text, in_epoch bigint, in_source text, in_parts json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_pictures as p (source, original, quick, image)
  select in_source, r.original, r.quick, r.image
  from json_to_record(in_parts) as r(original text, quick json, image json)
  on conflict (source) do update set
    original = coalesce(p.original, excluded.original),
    quick = coalesce(p.quick, excluded.quick),
    image = coalesce(p.image, excluded.image);
  if in_parts -> 'image' is not null then
    delete from site_picture_variants v where v.source = in_source;
  end if;
end
$$;
