-- Names that are settled and no longer needed.
create or replace function release_site_names(in_lease text, in_epoch bigint, in_site text, in_keep text[]) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  perform free_site_names(in_site, in_keep, false);
end
$$;
