-- One at a time decides whose a name is. Several names are locked in their order.
create or replace function lock_site_name(in_name text) returns void
language sql
return pg_advisory_xact_lock(hashtextextended('site name ' || in_name, 0));
