-- One message of a site; a mail that is still to leave does not. @returns whether it was there
create or replace function drop_site_message(in_site text, in_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  if not exists (select from site_messages m where m.id = in_id and m.site = in_site) then
    return false;
  end if;
  perform drop_site_messages(array[in_id]);
  return true;
end
$$;
