-- What visitors wrote into the contact forms of sites (rules/site.md#messages): personal data, sealed, and gone after 30 days.
create table site_messages (
  id text primary key,
  site text not null,
  account text not null,
  -- A keyed hash of the site and what was written: the same once more within an hour is the same message.
  key bytea not null,
  sealed bytea not null,
  -- Mailed to nobody: it looks like advertising, and stands in the list.
  held boolean not null,
  day date not null,
  at timestamptz(3) not null,
  -- When its mail is due; null where there is none.
  mail_at timestamptz(3),
  constraint message_is_sound check (id <> '' and site <> '' and account <> '')
);
create index site_messages_of_site on site_messages (site, at desc, id);
create index site_messages_of_account on site_messages (account, day);
create index site_messages_by_age on site_messages (at);

-- It gives one column more.
drop function if exists turn_outbox(
  text, bigint, bigint[], integer[], text[], text[], timestamptz[], text, timestamptz, timestamptz, integer, boolean
);
