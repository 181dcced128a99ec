-- No spec names the version, for certain: the key is nobody's.
create or replace function take_back_host_credential(in_host text, in_version integer) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  delete from host_credentials c where c.host = in_host and c.version = in_version;
end;
