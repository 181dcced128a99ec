-- Names that are kept no longer, claims of domains whose request never wrote its site, and base domains that were not proven within
-- seven days.
create or replace function sweep_site_names(in_lease text, in_epoch bigint) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_names n where n.state = 'quarantined' and n.until <= platform_now();
  delete from site_names n
  where (n.state in ('claimed', 'asked') or n.proof = 'base') and n.reserved_until <= now() - interval '1 hour';
  -- What an app's plan reserved and nobody applied.
  delete from site_names n where starts_with(n.site, 'App/') and n.reserved_until <= now();
  delete from site_names n
  where starts_with(n.name, '*.') and n.state = 'asked' and n.asked_at <= platform_now() - interval '7 days';
end
$$;
