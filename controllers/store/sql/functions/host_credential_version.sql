-- The newest version under which this very key is kept; null when there is none.
create or replace function host_credential_version(in_host text, in_mark bytea) returns integer
language sql stable security definer set search_path = public, pg_temp
return (select max(c.version) from host_credentials c where c.host = in_host and c.mark = in_mark);
