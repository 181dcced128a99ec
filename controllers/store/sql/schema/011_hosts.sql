-- Private keys to log in to hosts with, sealed. A row is written before the host's spec names its version.
create table host_credentials (
  host text not null check (host <> ''),
  version integer not null check (version > 0),
  sealed bytea not null,
  written_at timestamptz(3) not null default now(),
  primary key (host, version)
);

-- What each host's proxy is to serve. The proxy may lose all of it and gets it back from here.
create table host_routes (
  host text not null,
  id text not null check (id ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
  owner text not null,
  hostnames text[] not null check (cardinality(hostnames) between 1 and 100),
  handle jsonb not null,
  primary key (host, id)
);

-- One route per hostname of a host.
create table host_names (
  host text not null,
  hostname text not null check (hostname = lower(hostname)),
  id text not null,
  primary key (host, hostname),
  foreign key (host, id) references host_routes (host, id) on delete cascade
);
create index host_names_of_route on host_names (host, id);
