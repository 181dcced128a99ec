-- A key for a host that is there or is about to be; gives whether there was none of this version. No key goes because there is no
-- view of its host: views can be thrown away, keys cannot be made again. One whose host never came at all goes in the end.
create or replace function put_host_credential(in_host text, in_version integer, in_sealed bytea, in_mark bytea default null)
returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  delete from host_credentials c
  where c.host <> in_host and c.written_at < now() - interval '90 days' and not has_come('Host', c.host);
  insert into host_credentials (host, version, sealed, mark) values (in_host, in_version, in_sealed, in_mark)
  on conflict do nothing;
  if found then
    return true;
  end if;
  update host_credentials c set sealed = in_sealed, mark = in_mark, written_at = now()
  where c.host = in_host and c.version = in_version;
  return false;
end
$$;
