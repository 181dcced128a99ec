-- The life of a site's name (crds/site/names/life.ts): a claim of a domain blocks nobody, so several accounts may have one, and a
-- proof in the DNS makes it one account's. A label below a base domain is the platform's to give, and is its first claimant's.
alter table site_names
  add column state text not null default 'claimed'
    check (state in ('claimed', 'asked', 'verified', 'missing', 'lapsed', 'quarantined')),
  -- What made it the account's; null: nothing yet.
  add column proof text check (proof in ('txt', 'cname', 'platform', 'before')),
  add column asked_at timestamptz(3) not null default now(),
  add column changed_at timestamptz(3) not null default now(),
  -- When the record was looked for last, and seen last.
  add column looked_at timestamptz(3),
  add column seen_at timestamptz(3),
  add column missing_since timestamptz(3),
  -- A lapsed or quarantined one is nobody else's until then.
  add column until timestamptz(3),
  -- The next look; null: none.
  add column due_at timestamptz(3),
  -- What the last look saw instead of the record.
  add column reason text,
  -- Another account has shown a proof of it.
  add column contested_at timestamptz(3),
  -- Rises with every look that is kept: of two that ran at once the second keeps nothing.
  add column n bigint not null default 0,
  drop constraint site_names_pkey,
  add primary key (name, account);

update site_names set state = 'verified', proof = 'platform' where strpos(name, '.') = 0;
-- What was served goes on being served; it is taken from its site only when another account proves the name.
update site_names s set state = 'verified', proof = 'before', due_at = now() + random() * interval '1 day'
where strpos(s.name, '.') > 0 and s.reserved_until is null and exists (
  select from facts f where f.resource = s.site and f.kind = 'switch' and f.body #>> '{to,name}' = s.name
);
update site_names set state = 'asked', due_at = now() where state = 'claimed' and reserved_until is null;

create unique index site_names_held on site_names (name)
  where state in ('verified', 'missing', 'lapsed', 'quarantined');
create index site_names_due on site_names (due_at) where due_at is not null;
create index host_routes_of_owner on host_routes (owner);

-- Who had which name when: a row for each change of state, by a trigger (functions/note_site_name.sql). 'free': given up.
create table site_name_facts (
  seq bigint generated always as identity primary key,
  name text not null,
  account text not null,
  site text not null,
  state text not null,
  proof text,
  at timestamptz(3) not null
);
create index site_name_facts_of_name on site_name_facts (name, seq);
insert into site_name_facts (name, account, site, state, proof, at)
select name, account, site, state, proof, now() from site_names order by name, account;
