-- What the apps of a host may use in all, and one of them.
create or replace function host_rooms(in_host text, in_app text)
returns table (apps bigint, used json, held json)
language sql stable
begin atomic
  select
    count(*),
    json_build_object(
      'cpuMillis', coalesce(sum(r.cpu_millis), 0), 'memoryMib', coalesce(sum(r.memory_mib), 0),
      'diskGib', coalesce(sum(r.disk_gib), 0)
    ),
    (
      select json_build_object('cpuMillis', o.cpu_millis, 'memoryMib', o.memory_mib, 'diskGib', o.disk_gib)
      from app_rooms o where o.app = in_app and o.host = in_host
    )
  from app_rooms r where r.host = in_host;
end;
