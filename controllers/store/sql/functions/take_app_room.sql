-- Room for an app on its host, for the first time or another size of it. in_limits null: nobody knows what the host has.
-- What runs there already is counted whether it fits or not; what shrinks always fits. One after the other for each host.
--   in_wanted, in_limits  {cpuMillis, memoryMib, diskGib}
create or replace function take_app_room(in_app text, in_account text, in_host text, in_wanted json, in_limits json)
returns table (outcome text, held json, others json)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  v_held app_rooms;
  v_cpu bigint := (in_wanted ->> 'cpuMillis')::bigint;
  v_memory bigint := (in_wanted ->> 'memoryMib')::bigint;
  v_disk bigint := (in_wanted ->> 'diskGib')::bigint;
  v_others record;
  v_fits boolean;
begin
  perform pg_advisory_xact_lock(hashtextextended('app_rooms:' || in_host, 0));
  delete from app_rooms r
  where r.host = in_host and r.app <> in_app and r.taken_at < now() - interval '10 minutes' and not has_come('App', r.app);
  select * into v_held from app_rooms r where r.app = in_app and r.host = in_host;
  select coalesce(sum(r.cpu_millis), 0) as cpu, coalesce(sum(r.memory_mib), 0) as memory, coalesce(sum(r.disk_gib), 0) as disk
  into v_others from app_rooms r where r.host = in_host and r.app <> in_app;
  v_fits := in_limits is null or (
    (v_cpu <= v_held.cpu_millis or v_others.cpu + v_cpu <= (in_limits ->> 'cpuMillis')::bigint) is true
    and (v_memory <= v_held.memory_mib or v_others.memory + v_memory <= (in_limits ->> 'memoryMib')::bigint) is true
    and (v_disk <= v_held.disk_gib or v_others.disk + v_disk <= (in_limits ->> 'diskGib')::bigint) is true
  ) or (v_held.app is null and exists (
    select from app_releases r
    where r.app = in_app and r.state = 'live' and coalesce(r.record ->> 'host', in_host) = in_host
  ));
  outcome := case
    when not v_fits then 'refused'
    when v_held.app is null then 'taken'
    when (v_held.cpu_millis, v_held.memory_mib, v_held.disk_gib) = (v_cpu, v_memory, v_disk) then 'held'
    else 'changed'
  end;
  if outcome in ('taken', 'changed') then
    insert into app_rooms as r (app, host, account, cpu_millis, memory_mib, disk_gib)
    values (in_app, in_host, in_account, v_cpu, v_memory, v_disk)
    on conflict (app, host) do update set
      account = excluded.account, cpu_millis = excluded.cpu_millis, memory_mib = excluded.memory_mib,
      disk_gib = excluded.disk_gib, taken_at = now()
    where r.account = excluded.account;
  end if;
  held := case when v_held.app is not null then json_build_object(
    'cpuMillis', v_held.cpu_millis, 'memoryMib', v_held.memory_mib, 'diskGib', v_held.disk_gib
  ) end;
  others := json_build_object('cpuMillis', v_others.cpu, 'memoryMib', v_others.memory, 'diskGib', v_others.disk);
  return next;
end
$$;
