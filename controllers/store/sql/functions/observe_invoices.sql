-- All that a pass over invoices reads, in one round trip: the ledger's part, the issuer {profile, logo, archived} (null where
-- there is no row of it), whether the first send has its place under the cap, and what is to happen when. One row per invoice.
create or replace function observe_invoices(in_resources text[], in_accounts text[], in_issuers text[])
returns table (
  resource text, record json, sends json, facts json, deliveries json, issuer json, has_place boolean, scheduled json
)
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return query
  select o.*,
    (
      select json_build_object('profile', i.profile, 'logo', i.logo, 'archived', i.archived_at is not null)
      from issuers i where i.account = k.account and i.id = k.issuer
    ),
    -- the limit keeps this a look-up by key: of an `exists` PostgreSQL makes a hash of all places there are
    coalesce((select true from send_slots s where s.resource = k.resource and s.n = 1 limit 1), false),
    (
      select json_agg(json_build_object(
        'purpose', s.purpose, 'dueAt', iso_ms(s.due_at), 'lapsesAt', iso_ms(s.lapses_at), 'generation', s.generation,
        'factSeq', s.fact_seq, 'effect', s.effect
      ) order by s.purpose)
      from schedule s where s.resource = k.resource
    )
  from observe_resources(in_resources) o
  join unnest(in_resources, in_accounts, in_issuers) as k(resource, account, issuer) on k.resource = o.resource;
end
$$;
