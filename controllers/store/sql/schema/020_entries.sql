-- What each entry of the register says. `issued`, `restored` and `lost` stand for a number of their own, at step 0:
-- given to a resource, given back to it after an older copy was put back, or set aside because somebody may have it.
-- `amended`, `voided` and `credited` tell what became of a number later: they stand in the same chain behind the newest number
-- of the series, at steps 1, 2, …, so the order of the chain is (seq, step), and numbers stay 1..n.
alter table register
  add column entry text not null default 'issued',
  add column step integer not null default 0,
  -- What a later entry rests on: of `amended` the sha256 of the document in hex, of `credited` the number of the credit note.
  -- Of restored and lost ones, why. Total, currency and issued_at are those of the entry itself: of `amended` the new total, of
  -- `credited` what was credited, of `voided` what was owed until then; issued_at is when the entry was made.
  add column reference text not null default '',
  add constraint entry_says_what check (
    (entry in ('issued', 'restored', 'lost') and step = 0 or entry in ('amended', 'voided', 'credited') and step > 0)
    and strpos(reference, e'\n') = 0
  );
alter table register drop constraint register_pkey, add primary key (series_id, seq, step);
-- One number per resource, whatever the series.
alter table register drop constraint register_resource_key;
create unique index register_resource on register (resource) where step = 0;
create index register_later on register (resource, entry, reference) where step > 0;

alter table series
  -- How many entries stand behind the newest number, and how many later ones there are in all.
  add column last_step integer not null default 0,
  add column later bigint not null default 0;
