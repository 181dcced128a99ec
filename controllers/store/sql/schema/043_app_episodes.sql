-- Times in which something of a live release was not as it is to be: what was found first, and how often it was tried to put
-- it right. One at a time for each app; `n` counts per app.
create table app_episodes (
  app text not null,
  n integer not null check (n > 0),
  release integer not null,
  code text not null,
  service text,
  exit_code integer,
  detail text not null,
  -- The last lines of its container then, with the values of the env blackened.
  log text,
  began_at timestamptz(3) not null,
  attempts integer not null default 0,
  attempted_at timestamptz(3),
  ended_at timestamptz(3),
  primary key (app, n)
);
create unique index app_episodes_one_open on app_episodes (app) where ended_at is null;
