-- A preview of an app, for the first time or with another end. One whose app never came is free again after a while. Of what it is
-- a preview is told by the mirror: of an app of the same account that is none itself.
--   outcome  taken, held (it is this app's already), other (`held` has the branch), full, orphan (no such app), nested
create or replace function take_app_preview(
  in_app text, in_parent text, in_account text, in_ref text, in_limit integer, in_expires timestamptz(3), in_at timestamptz(3)
)
returns table (outcome text, held text)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  v_own app_previews;
begin
  perform pg_advisory_xact_lock(hashtextextended('app_previews:' || in_parent, 0));
  delete from app_previews p
  where p.parent = in_parent and p.app <> in_app and p.ended_at is null
    and p.taken_at < now() - interval '10 minutes' and not has_come('App', p.app);
  select * into v_own from app_previews p where p.app = in_app;
  held := case
    when v_own.ended_at is null and v_own.parent = in_parent and v_own.ref = in_ref then in_app
    else (select p.app from app_previews p where p.parent = in_parent and p.ref = in_ref and p.ended_at is null)
  end;
  outcome := case
    when held = in_app then 'held'
    when held is not null then 'other'
    when not exists (select from mirror m where m.kind = 'App' and m.name = in_parent and m.account = in_account) then 'orphan'
    when exists (select from app_previews p where p.app = in_parent and p.ended_at is null) then 'nested'
    when exists (select from app_previews p where p.parent = in_app and p.ended_at is null) then 'nested'
    when (select count(*) from app_previews p where p.parent = in_parent and p.ended_at is null) >= in_limit then 'full'
    else 'taken'
  end;
  if outcome = 'held' then
    update app_previews p set expires_at = in_expires where p.app = in_app and p.account = in_account;
  elsif outcome = 'taken' then
    insert into app_previews as p (app, parent, account, ref, created_at, expires_at)
    values (in_app, in_parent, in_account, in_ref, in_at, in_expires)
    on conflict (app) do update set
      parent = excluded.parent, account = excluded.account, ref = excluded.ref, created_at = excluded.created_at,
      expires_at = excluded.expires_at, ended_at = null, reason = null, taken_at = now()
    where p.ended_at is not null;
  end if;
  return next;
end
$$;
