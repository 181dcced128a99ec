-- Tells who waits for these rows: JSON arrays of "kind/name", each well below the 8,000 bytes that a notification may
-- have. This is no ledger transaction (NOTIFY takes a lock on the whole instance at commit).
create or replace function tell_mirror(in_keys text[]) returns void
language plpgsql
as $$
begin
  perform pg_notify('bottega_mirror', json_agg(p.key)::text)
  from (
    select k.key, sum(octet_length(k.key) + 8) over (order by k.key rows unbounded preceding) / 7000 as part
    from unnest(in_keys) as k(key)
  ) p
  group by p.part;
end
$$;
