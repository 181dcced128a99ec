-- Commands that are run in a container of their own: because somebody asked, before or after a release, or because they fell
-- due. Each at most once: `id` names it on its host too, and an instant of a schedule has one row.
create table app_runs (
  id text primary key,
  app text not null,
  account text not null,
  cause text not null check (cause in ('asked', 'schedule', 'pre_release', 'post_release')),
  service text not null,
  command jsonb not null,
  timeout_seconds integer not null check (timeout_seconds > 0),
  repeatable boolean not null,
  -- The env that was given with it: names, and names with values under a seal.
  env_keys text[] not null,
  sealed bytea,
  -- Whose release it comes before or after.
  operation text,
  attempt integer not null check (attempt > 0),
  schedule text,
  due_at timestamptz(3),
  release integer,
  state text not null
    check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'unknown', 'skipped')),
  exit_code integer,
  code text,
  message text,
  -- Bytes of its output on the host that were taken in, and that were gone before they could be.
  taken bigint not null default 0,
  lost bigint not null default 0,
  -- Bytes of what is kept: where it begins and ends.
  output_first bigint not null default 0,
  output_next bigint not null default 0,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  cancel_at timestamptz(3),
  fetched_at timestamptz(3),
  -- Nothing of it is on its host any more.
  dropped_at timestamptz(3),
  unique (app, schedule, due_at),
  constraint run_is_due_or_not check ((schedule is null) = (due_at is null)),
  constraint ended_run_has_an_end check ((ended_at is null) = (state in ('queued', 'running')))
);
create index app_runs_of_app on app_runs (app, created_at desc);
create index app_runs_left on app_runs (app) where dropped_at is null;
create index app_runs_of_operation on app_runs (operation) where operation is not null;

-- What they print, without values of the env, by the byte that it begins at.
create table app_run_output (
  run text not null references app_runs (id) on delete cascade,
  start bigint not null,
  content text not null,
  primary key (run, start)
);

-- Since when a schedule is as it is, and which of its instants was dealt with last.
create table app_schedules (
  app text not null,
  name text not null,
  digest text not null,
  since timestamptz(3) not null,
  last_at timestamptz(3),
  primary key (app, name)
);

-- What an app's spec has run before and after the release, as it was when the operation began.
alter table app_operations add column commands jsonb;
