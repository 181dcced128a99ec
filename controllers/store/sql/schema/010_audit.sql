-- Who did what, for ever: one chain per account, each row's hash covers the one before it. Rows come from append_audit
-- alone, which has the account's head locked.
create table audit_heads (
  account text primary key,
  last_seq bigint not null default 0,
  head_hash bytea not null
) with (fillfactor = 40); -- updated by every append: room for the new version on the same page

create table audit (
  account text not null,
  seq bigint not null,
  at timestamptz(3) not null,
  -- Names the event, so that an append whose answer was lost can be sent again.
  once text not null,
  -- JSON, kept as the text that was hashed.
  entry text not null,
  hash bytea not null,
  primary key (account, seq),
  unique (account, once),
  -- Newlines divide what is hashed; accounts are names of resources and have none.
  constraint once_is_one_line check (strpos(once, e'\n') = 0)
);
create index audit_newest on audit (at desc, account, seq desc);
