-- A picture is shown in one quick width at once; its other widths follow, and each is kept as it is made (hack/decisions/066).
-- `original` are the bytes that were taken in from an address. `image` is there once all widths are.
alter table site_pictures alter column image drop not null;
alter table site_pictures add column original text;
alter table site_pictures add column quick json;

-- Those of a picture that is under way.
create table site_picture_variants (
  source text not null,
  format text not null,
  width integer not null,
  height integer not null,
  sha256 text not null,
  bytes integer not null,
  primary key (source, format, width)
);

-- What the preview shows meanwhile.
alter table site_renderings add column is_first boolean not null default false;
alter table site_renderings drop constraint site_renderings_pkey;
alter table site_renderings add primary key (site, input, is_first);

-- keep_site_picture stands in for it.
drop function if exists put_site_picture(text, bigint, text, json);
