-- Of these invoices the ones to which nothing has happened since in_before, and nothing is under way: no mail and nothing else
-- that the outbox still has to do (events concern no resource), and no report that nobody decided on.
create or replace function quiet_invoices(in_names text[], in_uids text[], in_before timestamptz, in_limit integer)
returns table (name text)
language sql stable
begin atomic
  select m.name
  from unnest(in_names, in_uids) as k(name, uid)
  cross join lateral (
    select * from mirror m where m.kind = 'Invoice' and m.name = k.name limit 1
  ) m
  where m.uid = k.uid and not m.archived and m.updated_at <= in_before
    and not exists (select from facts f where f.resource = m.name and f.state = 'pending')
    and not exists (
      select from outbox o where o.resource = m.name and o.channel <> 'event' and o.due_at is not null
    )
  order by m.updated_at, m.name
  limit in_limit;
end;
