-- Names that are settled and no longer needed.
create or replace function release_site_names(in_lease text, in_epoch bigint, in_site text, in_keep text[]) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_names n
  where n.site = in_site and n.name <> all (in_keep) and (n.reserved_until is null or n.reserved_until <= now());
end
$$;
