create or replace function put_site_picture(in_lease text, in_epoch bigint, in_source text, in_image json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_pictures (source, image) values (in_source, in_image) on conflict do nothing;
end
$$;
