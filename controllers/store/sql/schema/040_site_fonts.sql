-- Fonts that sites bring along, by name: a file of a typeface, or a Han face with the sum of the characters that it was cut to
-- (rules/site.md#fonts). The bytes are in blobs.
create table site_fonts (
  name text primary key,
  sha256 text not null,
  bytes integer not null,
  made_at timestamptz(3) not null default now()
);
