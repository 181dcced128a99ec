-- What runs of the live release was given these limits, by service, out of this budget.
create or replace function apply_app_budget(
  in_lease text, in_epoch bigint, in_app text, in_release integer, in_budget json, in_limits json
)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  -- Who decides about the release meanwhile would write its record as it was.
  insert into app_revisions as v (app, rev) values (in_app, 1) on conflict (app) do update set rev = v.rev + 1;
  update app_releases r
  set record = coalesce(r.record, '{}') || jsonb_build_object('budget', in_budget, 'limits', in_limits)
  where r.app = in_app and r.number = in_release;
end
$$;
