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
create index register_later on register (resource, seq, step) where step > 0;
-- A void and a credit note happen once.
create unique index register_once on register (resource, entry, reference) where entry in ('voided', 'credited');

alter table series
  -- How many entries stand behind the newest number, and how many later ones there are in all.
  add column last_step integer not null default 0,
  add column later bigint not null default 0;

-- Before, only numbers were entered: what had become of them by now is entered once, in the order and with the dates of its
-- happening, so that months read from entries say of the past what they said. The hash is that of functions/chain_entry.sql.
do $$
declare
  one record;
  held series;
  new_hash bytea;
begin
  for one in
    with number as (select r.* from register r where r.kind = 'invoice' and r.step = 0),
    happened as (
      select s.resource, s.at, 1 as place, 'amended' as entry, (s.frozen ->> 'totalCents')::bigint as total_cents,
        s.frozen ->> 'currency' as currency, encode(s.sha256, 'hex') as reference
      from (
        select s.*, coalesce(
          lag(s.frozen ->> 'totalCents') over (partition by s.resource order by s.n), n.total_cents::text
        ) as total_before
        from sends s join number n on n.resource = s.resource
      ) s
      where s.frozen ->> 'totalCents' <> s.total_before
      union all
      select p.resource, p.at, 2, 'credited', (p.frozen ->> 'totalCents')::bigint, p.frozen ->> 'currency',
        p.frozen ->> 'number'
      from snapshots p where p.frozen ->> 'kind' = 'credit_note'
      union all
      select p.resource, p.at, 3, 'voided', (p.frozen ->> 'totalCents')::bigint, p.frozen ->> 'currency', ''
      from snapshots p where p.id = 'void'
    )
    select n.series_id, n.number, n.resource, n.uid, n.kind, h.entry, h.total_cents, h.currency, h.at, h.reference
    from happened h join number n on n.resource = h.resource
    order by h.at, h.resource, h.place
  loop
    select s.* into held from series s where s.id = one.series_id for no key update;
    new_hash := sha256(convert_to(
      encode(held.head_hash, 'hex') || e'\n' || one.number || e'\n' || one.resource || e'\n' || one.kind || e'\n'
        || one.total_cents::text || e'\n' || one.currency || e'\n'
        || to_char(one.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || e'\n' || one.entry || e'\n'
        || one.reference, 'UTF8'
    ));
    insert into register
      (series_id, seq, step, entry, number, resource, uid, kind, total_cents, currency, issued_at, reference, claimed, hash)
    values (one.series_id, held.last_seq, held.last_step + 1, one.entry, one.number, one.resource, one.uid, one.kind,
      one.total_cents, one.currency, one.at, one.reference, '{}', new_hash);
    update series s set last_step = s.last_step + 1, later = s.later + 1, head_hash = new_hash where s.id = one.series_id;
  end loop;
end
$$;

-- A month tells what was amended.
drop function if exists rollup(text, text[], timestamptz[], timestamptz[]);
