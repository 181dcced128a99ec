-- Has the records of an app's names looked for soon, at most once in three seconds each. Gives when it was asked, by the platform's
-- clock: a look of then or later answers it.
create or replace function ask_app_look(in_app text, in_names text[]) returns timestamptz
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  at timestamptz(3) := platform_now();
begin
  update site_names n
  set due_at = least(coalesce(n.due_at, 'infinity'), greatest(at, n.looked_at + interval '3 seconds'))
  where n.site = 'App/' || in_app and n.name = any (in_names) and n.state not in ('claimed', 'quarantined');
  return at;
end
$$;
