-- Has the records of an account's newest base domain looked for soon, at most once in three seconds. Gives when it was asked, by the
-- platform's clock: a look of then or later answers it.
create or replace function ask_base_look(in_account text) returns timestamptz
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  at timestamptz(3) := platform_now();
begin
  update site_names n
  set due_at = least(n.due_at, greatest(at, n.looked_at + interval '3 seconds'))
  where (n.name, n.account) = (
    select b.name, b.account from site_names b
    where b.account = in_account and starts_with(b.name, '*.') and b.state <> 'quarantined'
    order by b.asked_at desc limit 1
  );
  return case when found then at end;
end
$$;
