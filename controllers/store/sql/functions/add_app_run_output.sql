-- What a run has printed since byte in_from on its host, as it may be shown. Taken in once: whoever comes with another byte
-- than the one that is next gets nothing. Of all of it the last in_kept bytes are kept.
create or replace function add_app_run_output(
  in_lease text, in_epoch bigint, in_id text, in_from bigint, in_to bigint, in_lost bigint, in_content text, in_kept bigint,
  in_at timestamptz(3)
)
returns table (run json)
language plpgsql
as $$
declare
  held app_runs;
begin
  perform fence(in_lease, in_epoch);
  update app_runs r set
    taken = in_to, lost = r.lost + in_lost, fetched_at = in_at, output_next = r.output_next + octet_length(in_content)
  where r.id = in_id and r.taken = in_from and r.ended_at is null
  returning r.* into held;
  if not found then
    return;
  end if;
  if in_content <> '' then
    insert into app_run_output (run, start, content)
    values (in_id, held.output_next - octet_length(in_content), in_content);
    delete from app_run_output o
    where o.run = in_id and o.start + octet_length(o.content) <= held.output_next - in_kept;
    update app_runs r set output_first = (select min(o.start) from app_run_output o where o.run = in_id)
    where r.id = in_id
    returning r.* into held;
  end if;
  return query select app_run_row(held);
end
$$;
