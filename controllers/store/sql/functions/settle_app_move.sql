-- A move has ended. Where it ended well the app lives on its new host, and has left the one before, whose visitors are sent on
-- until in_operation says; else it never came, and what was begun there goes at once. A second time changes nothing.
create or replace function settle_app_move(in_app text, in_operation json, in_at timestamptz(3)) returns void
language plpgsql
as $$
declare
  v_host text := in_operation -> 'intent' ->> 'host';
begin
  perform from app_slugs s where s.app = in_app and s.host = v_host and s.place = 'coming' for update;
  if not found then
    return;
  end if;
  if in_operation ->> 'state' = 'succeeded' then
    update app_slugs s
    set place = 'left', until = in_at + make_interval(secs => coalesce((in_operation -> 'intent' ->> 'forwardSeconds')::integer, 0))
    where s.app = in_app and s.place = 'home';
    update app_slugs s set place = 'home' where s.app = in_app and s.host = v_host;
  else
    update app_slugs s set place = 'left', until = in_at where s.app = in_app and s.host = v_host;
  end if;
end
$$;
