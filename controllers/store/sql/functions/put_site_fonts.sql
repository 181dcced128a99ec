create or replace function put_site_fonts(in_lease text, in_epoch bigint, in_fonts json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into site_fonts (name, sha256, bytes)
  select name, sha256, bytes from json_to_recordset(in_fonts) as given (name text, sha256 text, bytes integer)
  order by name
  on conflict (name) do update set sha256 = excluded.sha256, bytes = excluded.bytes
    where site_fonts.sha256 <> excluded.sha256;
end
$$;
