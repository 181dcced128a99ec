-- Base domains of partners stand among the names of sites, as `*.<domain>`, with no site: what is below one is its account's, by the
-- proof 'base', and has no look of its own. Names that lie one below the other share the last two labels (`root`), by which they are
-- found and locked.
drop function if exists observe_sites(text[], text[]);
drop function if exists claim_site_name(text, text, text, boolean);
drop function if exists release_site_names(text, bigint, text, text[]);
alter table site_names
  add column root text generated always as (coalesce(substring(name from '[^.]+[.][^.]+$'), name)) stored,
  -- Of a base domain: what was found of each of its records, as it is shown (crds/site/names/life.ts).
  add column checks jsonb,
  -- It only leads to the site, with or without www, or from before: it gives way to another site of the account.
  add column spare boolean not null default false,
  drop constraint site_names_proof_check,
  add constraint site_names_proof_check check (proof in ('txt', 'cname', 'platform', 'base', 'before'));
create index site_names_of_root on site_names (root);
create index site_names_that_are_bases on site_names (account) where starts_with(name, '*.');
