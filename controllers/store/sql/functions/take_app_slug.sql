-- 'held': it is this app's own. One whose app never came is free again after a while.
create or replace function take_app_slug(in_app text, in_account text, in_host text, in_slug text) returns table (outcome text)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  delete from app_slugs s
  where s.host = in_host and s.slug = in_slug and s.app is not null and s.app <> in_app
    and s.taken_at < now() - interval '10 minutes'
    and not has_come('App', s.app);
  insert into app_slugs as s (host, slug, account, app) values (in_host, in_slug, in_account, in_app)
  on conflict (host, slug) do update set app = in_app, taken_at = now()
  where s.app is null and s.account = in_account;
  if found then
    return query select 'taken';
    return;
  end if;
  return query
  select case when s.app = in_app then 'held' else 'refused' end
  from app_slugs s where s.host = in_host and s.slug = in_slug;
end
$$;
