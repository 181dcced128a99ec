-- Something of the app is not as it is to be. Noted once, and told once, for as long as it lasts. Whoever was tried again and
-- again a short while ago has not been given a new start by having run in between. Of the past the newest hundred are kept.
--   in_episode {release, code, service, exitCode, detail, log, instead}; instead: the number of a milder one that ends with it
--   in_event   as for tell_event
create or replace function begin_app_episode(
  in_lease text, in_epoch bigint, in_app text, in_episode json, in_event json, in_at timestamptz(3)
)
returns void
language plpgsql
as $$
declare
  number integer;
  past app_episodes;
begin
  perform fence(in_lease, in_epoch);
  update app_episodes e set ended_at = in_at
  where e.app = in_app and e.n = (in_episode ->> 'instead')::integer and e.ended_at is null;
  if exists (select from app_episodes e where e.app = in_app and e.ended_at is null) then
    return;
  end if;
  select e.* into past from app_episodes e where e.app = in_app order by e.n desc limit 1;
  number := coalesce(past.n, 0) + 1;
  insert into app_episodes (app, n, release, code, service, exit_code, detail, log, began_at, attempts, attempted_at)
  select in_app, number, g.release, g.code, g.service, g."exitCode", g.detail, g.log, in_at,
    case when lately then past.attempts else 0 end, case when lately then past.attempted_at end
  from
    json_to_record(in_episode) as g(
      release integer, code text, service text, "exitCode" integer, detail text, log text
    ),
    lateral (
      select coalesce(
        past.release = g.release and past.code = g.code and past.service is not distinct from g.service
          and past.ended_at > in_at - interval '10 minutes',
        false
      ) as lately
    ) l
  on conflict do nothing;
  -- Somebody saw it at the same moment.
  if not found then
    return;
  end if;
  delete from app_episodes e where e.app = in_app and e.n <= number - 100;
  perform tell_event(in_app, 'unhealthy:' || number || ':' || iso_ms(in_at), in_event, in_at);
end
$$;
