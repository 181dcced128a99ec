-- Enters what became of a number (sql/schema/020_entries.sql) behind the newest entry of its series, once in the transaction of
-- what it follows from. in_what  {entry, totalCents, currency, reference}. The caller has fenced, and enters what it enters
-- in the order of the series' ids, as numbers are claimed: two can never wait for one another in a circle.
create or replace function chain_entry(in_resource text, in_what json, in_at timestamptz) returns void
language plpgsql
as $$
declare
  what record;
  given register;
  held series;
  new_hash bytea;
begin
  select w.* into what from json_to_record(in_what) as w(entry text, "totalCents" bigint, currency text, reference text);
  select r.* into given from register r where r.resource = in_resource and r.step = 0;
  if not found then
    raise exception '% has no number that could be %', in_resource, what.entry using errcode = '23514';
  end if;
  select s.* into strict held from series s where s.id = given.series_id for no key update;
  new_hash := link_hash(held.head_hash, register_line(
    given.number, in_resource, given.kind, what."totalCents", what.currency, in_at, what.entry, what.reference
  ));
  insert into register
    (series_id, seq, step, entry, number, resource, uid, kind, total_cents, currency, issued_at, reference, claimed, hash)
  values (held.id, held.last_seq, held.last_step + 1, what.entry, given.number, in_resource, given.uid, given.kind,
    what."totalCents", what.currency, in_at, what.reference, '{}', new_hash);
  update series s set last_step = held.last_step + 1, later = held.later + 1, head_hash = new_hash where s.id = held.id;
end
$$;
