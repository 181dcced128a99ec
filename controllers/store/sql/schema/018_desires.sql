-- What was asked of every resource, so that the cluster can be lost and made again. The newest generation that was
-- judged; those before it follow in desire_history, for some days.
create table desires (
  kind text not null,
  name text not null,
  uid text not null,
  -- The uid that its rows know it by: its own, or that of the lost one that it stands for again.
  origin text not null,
  generation bigint not null,
  account text not null,
  -- When the resource was made, that of `origin` where it stands for one.
  created_at timestamptz(3) not null,
  -- {labels, annotations}: those that are ours. No spec holds a secret (test/crds/kernel/secrets.test.ts).
  metadata jsonb not null,
  -- json, not jsonb: a spec comes back as it was written.
  spec json not null,
  recorded_at timestamptz(3) not null default now(),
  primary key (kind, name)
);

create table desire_history (
  kind text not null,
  name text not null,
  uid text not null,
  generation bigint not null,
  account text not null,
  metadata jsonb not null,
  spec json not null,
  recorded_at timestamptz(3) not null,
  superseded_at timestamptz(3) not null default now(),
  primary key (kind, name, uid, generation)
);
create index desire_history_age on desire_history (superseded_at);

-- That a resource was deleted. What is gone and does not stand here was lost.
create table deletions (
  kind text not null,
  name text not null,
  uid text not null,
  -- Asked over REST, before the cluster was asked.
  asked_at timestamptz(3),
  -- By whoever leads.
  seen_at timestamptz(3),
  -- As it was when it was seen to go.
  generation bigint,
  -- 'seen': by its event or its finalizer. 'absent': a few were not there when somebody began to lead.
  how text,
  primary key (kind, name, uid),
  constraint deletion_is_sound check (
    (asked_at is not null or seen_at is not null) and (seen_at is null) = (how is null) and how in ('seen', 'absent')
  )
);
create index deletions_age on deletions (coalesce(seen_at, asked_at));
