-- Documents that fail whenever they are drawn are set aside like mails (rules/platform.md#quarantine). Their tries are facts of the
-- invoice; a document has no row of its own that could be named, so each that is set aside takes the next number.
alter table quarantine drop constraint quarantine_source_check;
alter table quarantine add constraint quarantine_source_check
  check (source in ('mail', 'card', 'event', 'delivery', 'document'));
-- Of a document: what its tries are counted under (crds/invoice/planning/undrawn.ts). Null of all others.
alter table quarantine add column subject text;
create unique index quarantine_document on quarantine (resource, subject)
  where released_at is null and source = 'document';
create sequence quarantined_documents;
