-- A key for a host that is there or is about to be. No key goes because there is no view of its host: views can be thrown
-- away, keys cannot be made again.
create or replace function put_host_credential(in_host text, in_version integer, in_sealed bytea) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  insert into host_credentials (host, version, sealed) values (in_host, in_version, in_sealed)
  on conflict (host, version) do update set sealed = excluded.sealed, written_at = now();
end;
