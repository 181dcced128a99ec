-- Who invoices: the seller's identity as it is now. What stood on a document is frozen with its send.
-- An account's default issuer has no row until its profile is first changed.
create table issuers (
  account text not null check (account <> ''),
  id text not null check (id <> ''),
  profile jsonb not null,
  updated_at timestamptz(3) not null default now(),
  primary key (account, id)
);

-- What a pass over invoices reads, in one round trip: the ledger's part, and the issuer's profile.
create function observe_invoices(in_resources text[], in_accounts text[], in_issuers text[])
returns table (resource text, record json, sends json, facts json, deliveries json, profile jsonb)
language plpgsql stable
as $$
begin
  return query
  select o.*, (select i.profile from issuers i where i.account = k.account and i.id = k.issuer)
  from observe_resources(in_resources) o
  join unnest(in_resources, in_accounts, in_issuers) as k(resource, account, issuer) on k.resource = o.resource;
end
$$;
