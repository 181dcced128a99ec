-- Names that are settled and no longer needed; of those that are kept, in_spare only lead to the site, and give way to another of
-- the account.
create or replace function release_site_names(in_lease text, in_epoch bigint, in_site text, in_keep text[], in_spare text[])
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  perform free_site_names(in_site, in_keep, false);
  update site_names n set spare = true
  where n.site = in_site and n.name = any (in_spare) and not n.spare and n.state <> 'quarantined';
end
$$;
