-- Adds what was seen of apps between two looks to their minute. in_rows: [{app, at, requests, errors, took, cpuMs, looked, memoryMib, diskMib, restarts}]
create or replace function count_app_minutes(in_lease text, in_epoch bigint, in_rows json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  insert into app_minutes as m (app, at, requests, errors, took, cpu_ms, looked, memory_mib, disk_mib, restarts)
  select r.app, date_trunc('minute', r.at), r.requests, r.errors, r.took, r."cpuMs", r.looked, r."memoryMib", r."diskMib", r.restarts
  from json_to_recordset(in_rows) as r(
    app text, at timestamptz, requests integer, errors integer, took integer[], "cpuMs" double precision, looked double precision,
    "memoryMib" double precision, "diskMib" integer, restarts integer
  )
  on conflict (app, at) do update set
    requests = m.requests + excluded.requests, errors = m.errors + excluded.errors,
    took = (
      select array_agg(coalesce(a.n, 0) + coalesce(b.n, 0) order by coalesce(a.place, b.place))
      from unnest(m.took) with ordinality as a(n, place) full join unnest(excluded.took) with ordinality as b(n, place) using (place)
    ),
    cpu_ms = m.cpu_ms + excluded.cpu_ms, looked = m.looked + excluded.looked,
    memory_mib = greatest(m.memory_mib, excluded.memory_mib), disk_mib = greatest(m.disk_mib, excluded.disk_mib),
    restarts = m.restarts + excluded.restarts;
end
$$;
