-- What waits for a reviewer, over all accounts: taken from the views of sites, as what lists filter by is.
alter table mirror
  add column submitted_at text generated always as (
    case when kind = 'Site' then view -> 'review' ->> 'submitted_at' end
  ) stored,
  add column decided_at text generated always as (
    case when kind = 'Site' then view -> 'review' ->> 'decided_at' end
  ) stored;
create index mirror_waiting on mirror (submitted_at, place) where submitted_at is not null and decided_at is null;
create index mirror_decided on mirror (decided_at desc, place desc) where decided_at is not null;
