-- Where the visitors are sent. The address is that of the release which the route leads to, and of no other: at a switch the
-- one before is still live, and goes on listening at its own until it has drained.
create or replace function set_app_route(
  in_lease text, in_epoch bigint, in_app text, in_release integer, in_digest text, in_address text
)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  -- Who decides about the release meanwhile would write its address as it was.
  insert into app_revisions as v (app, rev) values (in_app, 1) on conflict (app) do update set rev = v.rev + 1;
  insert into app_routes (app, digest, address) values (in_app, in_digest, in_address)
  on conflict (app) do update set digest = excluded.digest, address = excluded.address;
  update app_releases r set address = in_address
  where r.app = in_app and r.number = in_release and r.address is distinct from in_address;
end
$$;
