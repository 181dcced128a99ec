-- What happened, written once under a unique key. seq counts per resource, so a resource's status can say how many of
-- its facts it has folded.
create table facts (
  resource text not null,
  -- The kind of the resource.
  resource_kind text not null,
  seq bigint not null,
  key text not null,
  -- What happened.
  kind text not null,
  body jsonb not null,
  -- 'api' facts need no epoch: they only say what somebody reported. What a controller did stands under its epoch.
  written_by text not null,
  state text not null,
  -- Why it was refused: a code, for the answer to whoever reported it.
  refused_code text,
  at timestamptz(3) not null,
  decided_at timestamptz(3),
  -- Why it was refused, with the figures: for the answer to whoever reported it.
  refused_detail text,
  -- What was decided about it, beside yes or no: the amount that "all that is left" came to, or why it was refused.
  outcome jsonb,
  primary key (resource, seq),
  unique (resource, key),
  constraint fact_is_sound check (
    resource <> '' and resource_kind <> '' and key <> '' and kind <> '' and written_by in ('api', 'controller')
    and state in ('pending', 'accepted', 'refused')
  ),
  constraint adopted_is_the_controllers check (kind <> 'adopted' or written_by = 'controller'),
  constraint refused_has_a_code check ((state = 'refused') = (refused_code is not null)),
  constraint pending_is_undecided check ((state = 'pending') = (decided_at is null))
);
-- What awaits a verdict is little, however long a history is.
create index facts_pending on facts (resource, seq) where state = 'pending';
-- Which bytes are still named is asked when a test is purged.
create index facts_by_drawing on facts ((body ->> 'sha256')) where kind = 'previewed';
