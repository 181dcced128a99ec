-- Goes on with a series that an older copy of the database has cut short: numbers that resources are known to have (restored), and
-- those that may have been given to somebody (lost). in_entries is in the order of the numbers, behind the last one:
--   [{seq, prefix, entry, number's resource, uid, kind, totalCents, currency, issuedAt, claimed, reference}]
-- What stands there already is left as it is, so it may be repeated. Gives how many entries are new.
create or replace function restore_series(
  in_lease text, in_epoch bigint, in_series text, in_account text, in_prefix text, in_entries json
) returns bigint
language plpgsql
as $$
declare
  held series;
  one record;
  fresh bigint := 0;
  new_number text;
begin
  perform fence(in_lease, in_epoch);
  insert into series (id, account, prefix, head_hash)
  values (in_series, in_account, in_prefix, genesis_hash(in_series)) on conflict (id) do nothing;
  select s.* into held from series s where s.id = in_series for no key update;
  for one in
    select e.*
    from json_to_recordset(in_entries) as e(
      seq bigint, prefix text, entry text, resource text, uid text, kind text, "totalCents" bigint, currency text,
      "issuedAt" timestamptz(3), claimed jsonb, reference text
    )
    order by e.seq
  loop
    continue when one.seq <= held.last_seq;
    if one.seq <> held.last_seq + 1 then
      raise exception 'series % is at %, and % was to follow', in_series, held.last_seq, one.seq using errcode = '23514';
    end if;
    new_number := format_number(one.prefix, one.seq);
    held.head_hash := link_hash(held.head_hash, register_line(
      new_number, one.resource, one.kind, one."totalCents", one.currency, one."issuedAt", one.entry, one.reference
    ));
    insert into register
      (series_id, seq, step, entry, number, resource, uid, kind, total_cents, currency, issued_at, claimed, reference, hash)
    values
      (in_series, one.seq, 0, one.entry, new_number, one.resource, one.uid, one.kind, one."totalCents", one.currency,
        one."issuedAt", one.claimed, one.reference, held.head_hash);
    held.last_seq := one.seq;
    held.prefix := one.prefix;
    fresh := fresh + 1;
  end loop;
  if fresh > 0 then
    update series s set last_seq = held.last_seq, last_step = 0, head_hash = held.head_hash, prefix = held.prefix
    where s.id = in_series;
  end if;
  return fresh;
end
$$;
