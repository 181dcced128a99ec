-- Nothing of a release runs any more. A live one is never retired.
create or replace function retire_app_release(in_lease text, in_epoch bigint, in_app text, in_number integer, in_at timestamptz)
returns table (retired boolean)
language plpgsql
as $$
#variable_conflict use_column
begin
  perform fence(in_lease, in_epoch);
  return query
  update app_releases r set retired_at = in_at
  where r.app = in_app and r.number = in_number and r.retired_at is null and r.state in ('failed', 'superseded')
  returning true;
end
$$;
