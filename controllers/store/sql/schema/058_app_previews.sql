-- Previews of apps: apps of their own, of a branch of another one, with an end. What is kept is which there are, so that a branch
-- has one at a time and an app no more than so many, and when each ended.
create table app_previews (
  app text primary key,
  parent text not null,
  account text not null,
  ref text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  reason text check (reason in ('expired', 'deleted')),
  taken_at timestamptz(3) not null default now(),
  constraint ended_preview_has_a_reason check ((ended_at is null) = (reason is null)),
  constraint preview_of_another check (app <> parent)
);
create unique index app_previews_one_of_branch on app_previews (parent, ref) where ended_at is null;
create index app_previews_of_app on app_previews (parent, created_at desc);
