-- Freezes sends as freeze_sends does, and then looks at these invoices as observe_invoices does, in the same transaction: who
-- has frozen knows what stands there without asking again. The resources are those of in_sends, each once. `fresh` are the
-- sends of an invoice that are new.
create or replace function freeze_invoices(
  in_lease text, in_epoch bigint, in_sends json, in_blobs json, in_content bytea,
  in_resources text[], in_accounts text[], in_issuers text[]
)
returns table (
  resource text, record json, sends json, facts json, deliveries json, issuer json, has_place boolean, scheduled json,
  fresh integer[]
)
language plpgsql
as $$
#variable_conflict use_column
declare
  fresh_resources text[];
  fresh_ns integer[];
begin
  select array_agg(f.resource), array_agg(f.n) into fresh_resources, fresh_ns
  from freeze_sends(in_lease, in_epoch, in_sends, in_blobs, in_content) f;
  return query
  select o.*, array(select f.n from unnest(fresh_resources, fresh_ns) as f(resource, n) where f.resource = o.resource)
  from observe_invoices(in_resources, in_accounts, in_issuers) o;
end
$$;
