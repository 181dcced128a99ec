-- The next try to put an app right is taken by whoever counts it first. in_attempt: which one it is, from 1.
create or replace function try_app_mend(
  in_lease text, in_epoch bigint, in_app text, in_n integer, in_attempt integer, in_at timestamptz(3)
)
returns boolean
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  update app_episodes e set attempts = in_attempt, attempted_at = in_at
  where e.app = in_app and e.n = in_n and e.attempts = in_attempt - 1 and e.ended_at is null;
  return found;
end
$$;
