-- What a pass over invoices reads, in one round trip: the ledger's part, the issuer's profile, and whether the first send
-- has its place under the cap.
create or replace function observe_invoices(in_resources text[], in_accounts text[], in_issuers text[])
returns table (
  resource text, record json, sends json, facts json, deliveries json, profile jsonb, has_place boolean
)
language plpgsql stable
as $$
begin
  return query
  select o.*, (select i.profile from issuers i where i.account = k.account and i.id = k.issuer),
    exists (select from send_slots s where s.resource = k.resource and s.n = 1)
  from observe_resources(in_resources) o
  join unnest(in_resources, in_accounts, in_issuers) as k(resource, account, issuer) on k.resource = o.resource;
end
$$;
