-- Name and room on the host that an app is about to move to. 'leaving': it has left that very host, and something of it is there
-- still. Repeated it takes no more.
--   in_wanted, in_limits  as for take_app_room
create or replace function take_app_place(
  in_lease text, in_epoch bigint, in_app text, in_account text, in_host text, in_slug text, in_wanted json, in_limits json
)
returns table (outcome text, held json, others json)
language plpgsql
as $$
declare
  v_place text;
begin
  perform fence(in_lease, in_epoch);
  select s.place into v_place from app_slugs s where s.host = in_host and s.slug = in_slug and s.app = in_app;
  if v_place = 'left' then
    outcome := 'leaving';
    return next;
    return;
  end if;
  select r.outcome, r.held, r.others into outcome, held, others
  from take_app_room(in_app, in_account, in_host, in_wanted, in_limits) r;
  if outcome = 'refused' then
    return next;
    return;
  end if;
  if v_place is null then
    -- What an app that is gone has left in its volumes there is its owner's: an app that comes brings its own.
    insert into app_slugs as s (host, slug, account, app, place) values (in_host, in_slug, in_account, in_app, 'coming')
    on conflict (host, slug) do nothing;
    if not found then
      delete from app_rooms m where m.app = in_app and m.host = in_host;
      outcome := 'taken by another';
      return next;
      return;
    end if;
  end if;
  outcome := 'taken';
  return next;
end
$$;
