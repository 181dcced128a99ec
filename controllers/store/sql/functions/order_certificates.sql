-- Takes places under a CA's limit, all or none: gives what stands in the way, and nothing when nothing does. Without a limit it records
-- what is asked of the CA whatever was said before. in_given  {host, ca, owner, names: [{hostname, root}], limit, now}
create or replace function order_certificates(in_lease text, in_epoch bigint, in_given json)
returns table (root text, fresh integer, used integer, free_at timestamptz)
language plpgsql
as $$
#variable_conflict use_column
declare
  given record;
begin
  perform fence(in_lease, in_epoch);
  select * into given
  from json_to_record(in_given) as g(host text, ca text, owner text, names json, "limit" integer, now timestamptz);
  -- in one order, so that none waits for one that waits for it
  perform account_lock('certificates/' || given.ca, r.root)
  from (select distinct n.root from json_to_recordset(given.names) as n(root text) order by n.root) r;
  return query
    select u.* from certificate_use(given.host, given.ca, given.names, given.limit, given.now) u
    where u.fresh > 0 and u.used + u.fresh > given.limit;
  if found then
    return;
  end if;
  insert into certificate_orders as o (host, hostname, ca, root, owner, ordered_at)
  select given.host, n.hostname, given.ca, n.root, given.owner, given.now
  from json_to_recordset(given.names) as n(hostname text, root text)
  where not exists (select from host_names h where h.host = given.host and h.hostname = n.hostname)
  on conflict (host, hostname) do update
    set ca = excluded.ca, root = excluded.root, owner = excluded.owner, ordered_at = excluded.ordered_at
    where o.ordered_at <= excluded.ordered_at - interval '60 days';
end
$$;
