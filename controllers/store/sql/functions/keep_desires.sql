-- As put_desires, for resources of which there is nothing to show: paused ones, and those whose pass fails or waits.
create or replace function keep_desires(in_lease text, in_epoch bigint, in_rows json) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  perform put_desires(in_rows);
end
$$;
