-- Names that are kept no longer, and claims of domains whose request never wrote its site.
create or replace function sweep_site_names(in_lease text, in_epoch bigint) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_names n where n.state = 'quarantined' and n.until <= platform_now();
  delete from site_names n where n.state in ('claimed', 'asked') and n.reserved_until <= now() - interval '1 hour';
end
$$;
