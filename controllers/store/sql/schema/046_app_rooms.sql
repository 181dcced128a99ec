-- What an app may use of its host, taken before anything of it runs there: the sum of all is held below what the host has.
create table app_rooms (
  app text primary key,
  host text not null,
  account text not null,
  cpu_millis bigint not null check (cpu_millis > 0),
  memory_mib bigint not null check (memory_mib > 0),
  disk_gib bigint not null check (disk_gib > 0),
  taken_at timestamptz(3) not null default now()
);
create index app_rooms_of_host on app_rooms (host);
