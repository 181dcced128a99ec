-- A spare name goes to another site of its account, whose route may take it at once: the site that it led to sets its own anew.
create or replace function yield_site_name(in_name site_names, in_site text) returns void
language plpgsql
as $$
begin
  if in_name.spare and in_name.site <> in_site then
    delete from host_names h using host_routes r
    where r.host = h.host and r.id = h.id and r.owner = 'Site/' || in_name.site and is_name_of(in_name.name, h.hostname);
  end if;
end
$$;
