-- A session that a link opened asks for its first page: 'new', and counted; 'known', for it was let in before; 'full', for as many
-- were let in as may; 'over', for the link was revoked, has expired, or is none of the app.
create or replace function use_access_link(in_link text, in_app text, in_session text, in_path text, in_at timestamptz) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  held app_access_links;
begin
  select * into held from app_access_links l where l.id = in_link and l.app = in_app for update;
  if held.id is null or held.revoked_at is not null or held.expires_at <= in_at then
    return 'over';
  end if;
  if exists (select from app_access_uses u where u.link = in_link and u.session = in_session) then
    return 'known';
  end if;
  if held.max_uses <= (select count(*) from app_access_uses u where u.link = in_link) then
    return 'full';
  end if;
  insert into app_access_uses (link, session, at, path) values (in_link, in_session, in_at, left(in_path, 512));
  return 'new';
end
$$;
