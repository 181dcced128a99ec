-- What the words of a site are like (content/faults/likeness.ts), under the name of what was rendered from them; null where they are too few.
create table site_words (
  site text primary key,
  account text not null,
  input text not null,
  signature text check (length(signature) <= 172),
  kept_at timestamptz(3) not null default now()
);
create index site_words_of_account on site_words (account);

-- Which words of its source each value of a drafted site rests on (rules/site.md#provenance). Written before its resource is; forgotten
-- with the site.
create table site_provenances (
  site text primary key,
  account text not null,
  provenance jsonb not null,
  kept_at timestamptz(3) not null default now()
);
