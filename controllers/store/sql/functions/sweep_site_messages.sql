-- What is older than a message may become, some at a time.
create or replace function sweep_site_messages(in_lease text, in_epoch bigint, in_before timestamptz) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  perform drop_site_messages(
    array(select m.id from site_messages m where m.at < in_before order by m.at limit 1000 for update skip locked)
  );
end
$$;
