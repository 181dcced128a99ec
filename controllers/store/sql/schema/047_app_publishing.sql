-- How apps are published (crds/app/lifecycle/publishing/). Names of apps stand among those of sites, under `App/<name>` as their
-- holder: one table says whose a name is, whatever is served under it.

-- What somebody had planned to change, as it was shown; and, once it is applied, the operation that did it. `etag`: of what was
-- there when it was planned. A password never stands here.
create table app_plans (
  id text primary key,
  app text not null,
  account text not null,
  sort text not null check (sort in ('domain-config', 'publication-policy')),
  etag text not null,
  body jsonb not null,
  created_at timestamptz(3) not null,
  -- The operation that applied it, and the generation of the spec that it wrote.
  operation text unique,
  generation bigint,
  applied_at timestamptz(3),
  ended_at timestamptz(3),
  code text,
  message text,
  steps jsonb
);
create index app_plans_of_app on app_plans (app, created_at);

-- Links that open a private app for whoever holds them. The secret part is derived and never stored.
create table app_access_links (
  id text primary key,
  app text not null,
  account text not null,
  -- The path below which it opens the app.
  scope text not null,
  max_uses integer check (max_uses > 0),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index app_access_links_of_app on app_access_links (app, created_at);

-- Who came by a link: a row for each session that it opened, at the first request of that.
create table app_access_uses (
  link text not null references app_access_links (id) on delete cascade,
  session text not null,
  at timestamptz(3) not null,
  path text not null,
  primary key (link, session)
);

-- Views in the shape of before, until a pass writes them anew; those of paused apps stay.
update mirror set view = (view::jsonb || jsonb_build_object(
  'domains', jsonb '[]', 'domain_plan', null, 'access_plan', null, 'host_address', null,
  'readiness_probe', jsonb '{"path": "/", "status": ["200-399"], "timeout_seconds": 5}'
))::json
where kind = 'App' and not view::jsonb ? 'domain_plan';
