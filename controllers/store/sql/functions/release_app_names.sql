-- Names that the spec of an app names no longer. What a plan reserves stays for as long as that holds.
create or replace function release_app_names(in_lease text, in_epoch bigint, in_app text, in_keep text[]) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  perform free_site_names('App/' || in_app, in_keep, false);
end
$$;
