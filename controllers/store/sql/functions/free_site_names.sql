-- Names that a site gives back, but for in_keep, and but for those that are only reserved (in_reserved: those too). A label is
-- kept for its account for 30 days; a domain whose proof is gone for as long as it would have been.
create or replace function free_site_names(in_site text, in_keep text[], in_reserved boolean) returns void
language plpgsql
as $$
declare
  given site_names;
  kept_until timestamptz;
begin
  for given in
    select * from site_names n
    where n.site = in_site and n.name <> all (in_keep) and n.state <> 'quarantined'
      and (in_reserved or n.reserved_until is null or n.reserved_until <= now())
    order by n.root, n.name
  loop
    perform lock_site_name(given.name);
    kept_until := case
      when strpos(given.name, '.') = 0 and given.reserved_until is null then platform_now() + interval '30 days'
      else given.until
    end;
    if kept_until > platform_now() then
      update site_names n
      set state = 'quarantined', until = kept_until, reserved_until = null, due_at = null, reason = null,
        changed_at = platform_now()
      where n.name = given.name and n.account = given.account and n.site = in_site;
    else
      delete from site_names n where n.name = given.name and n.account = given.account and n.site = in_site;
    end if;
  end loop;
end
$$;
