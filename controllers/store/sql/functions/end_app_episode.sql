-- All of the app is as it is to be again: noted and told once. in_event: as for tell_event.
create or replace function end_app_episode(
  in_lease text, in_epoch bigint, in_app text, in_n integer, in_event json, in_at timestamptz(3)
)
returns void
language plpgsql
as $$
declare
  began timestamptz(3);
begin
  perform fence(in_lease, in_epoch);
  update app_episodes e set ended_at = in_at where e.app = in_app and e.n = in_n and e.ended_at is null
  returning e.began_at into began;
  if found then
    perform tell_event(in_app, 'recovered:' || in_n || ':' || iso_ms(began), in_event, in_at);
  end if;
end
$$;
