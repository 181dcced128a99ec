-- Where an app lives ('home'), which host it is on its way to ('coming'), and hosts that it has left, each until nothing of
-- it is there any more: until then the name there is its own, and so is its room.
alter table app_slugs
  add column place text not null default 'home' check (place in ('home', 'coming', 'left')),
  add column until timestamptz(3),
  add constraint left_has_an_end check ((place = 'left') = (until is not null));
drop index app_slugs_of_app;
create unique index app_slugs_home on app_slugs (app) where app is not null and place = 'home';
create unique index app_slugs_coming on app_slugs (app) where app is not null and place = 'coming';

alter table app_rooms drop constraint app_rooms_pkey, add primary key (app, host);

-- Which kinds there are is told by crds/app/world.ts.
alter table app_operations drop constraint app_operations_kind_check,
  add constraint app_operations_kind_check check (kind ~ '^[a-z]+$');

-- Each release says on which host it is.
update app_releases r set record = r.record || jsonb_build_object('host', s.host)
from app_slugs s where s.app = r.app and jsonb_typeof(r.record) = 'object';
