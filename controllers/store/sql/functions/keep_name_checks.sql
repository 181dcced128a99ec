-- What was found of a name that follows its base domain (where it leads, whom it lets issue): nothing of its life changes by it.
create or replace function keep_name_checks(
  in_lease text, in_epoch bigint, in_name text, in_account text, in_n bigint, in_checks jsonb, in_at timestamptz,
  in_due timestamptz
)
returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  update site_names s set checks = in_checks, looked_at = in_at, due_at = in_due, n = s.n + 1
  where s.name = in_name and s.account = in_account and s.n = in_n and s.proof = 'base';
end
$$;
