-- What builds and starts of a release said, as it may be shown, and the last lines of one that is gone (rules/app.md#kept-logs).
-- `taken`: bytes of the host's own log that were read; `fold`: what the lines to come go on from.
create table app_kept_logs (
  app text not null,
  release integer not null,
  step text not null check (step in ('build', 'start', 'run')),
  taken bigint not null default 0,
  fold jsonb,
  at timestamptz(3) not null,
  primary key (app, release, step)
);
create index app_kept_logs_of_time on app_kept_logs (at);

-- Lines n to n + count - 1 of a release, counted over all of its steps from 1. Where numbers are missing lines were not kept.
create table app_kept_lines (
  app text not null,
  release integer not null,
  n integer not null check (n > 0),
  count integer not null check (count > 0),
  step text not null,
  content text not null,
  at timestamptz(3) not null,
  primary key (app, release, n)
);

-- Whom a reader wants to hear; all when null.
alter table app_log_requests add column service text;

-- What an app was asked and what it used, by the minute (rules/app.md#usage). `took`: requests by how long they took, within the bounds of
-- crds/app/lifecycle/usage/traffic.ts. `looked`: seconds in which its containers were looked at.
create table app_minutes (
  app text not null,
  at timestamptz(0) not null,
  requests integer not null,
  errors integer not null,
  took integer[] not null,
  cpu_ms double precision not null,
  looked double precision not null,
  memory_mib double precision not null,
  disk_mib integer,
  restarts integer not null,
  primary key (app, at)
);
create index app_minutes_of_time on app_minutes (at);
