-- One at a time decides whose a name is, and whose what lies above and below it: they share the last two labels. Several names are
-- locked in the order of those (site_names.root).
create or replace function lock_site_name(in_name text) returns void
language sql
return pg_advisory_xact_lock(
  hashtextextended('site name ' || coalesce(substring(in_name from '[^.]+[.][^.]+$'), in_name), 0)
);
