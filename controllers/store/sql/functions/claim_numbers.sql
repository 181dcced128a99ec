-- Gives the next numbers of their series to many claims in one round trip and one transaction, so the lock on a series
-- is never held while a client thinks. A resource that has a number keeps it; held_series and held_at then say of when.
-- Within a series the order is that of the claims; the answers come in the order of the claims.
-- Claims come as one array per field, which is parsed at half the cost of JSON; in_places says which of the series
-- (counted from 1) each is for. No series and no resource may be named twice.
-- A series that has begun keeps its prefix, whatever a claim says that was decided before somebody changed it; a prefix
-- that another series of the account has is refused (series_prefix_once).
create or replace function claim_numbers(
  in_lease text, in_epoch bigint, in_series_ids text[], in_accounts text[], in_prefixes text[],
  in_places integer[], in_resources text[], in_uids text[], in_kinds text[], in_total_cents bigint[],
  in_currencies text[], in_issued_at timestamptz(3)[], in_claimed jsonb[]
)
returns table (seq bigint, number text, held_series text, held_at text)
language plpgsql
as $$
#variable_conflict use_column
declare
  one record;
  row_of series;
  prefixes text[];
  lasts bigint[];
  heads bytea[];
  at integer; -- a place in the arrays of series
  new_seqs bigint[];
  new_numbers text[];
  new_hashes bytea[];
begin
  perform fence(in_lease, in_epoch);

  -- In the order of their ids, so that two claimers can never wait for one another in a circle.
  for one in
    select g.id, g.account, g.prefix, g.place
    from unnest(in_series_ids, in_accounts, in_prefixes) with ordinality as g(id, account, prefix, place)
    order by g.id, g.place
  loop
    select s.* into row_of from series s where s.id = one.id for no key update;
    if not found then
      insert into series (id, account, prefix, head_hash)
      values (one.id, one.account, one.prefix, genesis_hash(one.id)) on conflict (id) do nothing;
      select s.* into row_of from series s where s.id = one.id for no key update;
    end if;
    if row_of.account <> one.account then
      raise exception 'series % is of another account', one.id using errcode = '23514';
    end if;
    prefixes[one.place] := case when row_of.last_seq >= row_of.first_seq then row_of.prefix else one.prefix end;
    lasts[one.place] := row_of.last_seq;
    heads[one.place] := row_of.head_hash;
  end loop;

  -- unnest in the select list runs the arrays side by side; in the from list each would be stored first.
  for one in
    select c.*, r.series_id as held_series, r.seq as held_seq, r.number as held_number, r.issued_at as held_at
    from (
      select generate_subscripts(in_resources, 1) as position, unnest(in_places) as place,
        unnest(in_resources) as resource, unnest(in_kinds) as kind, unnest(in_total_cents) as total_cents,
        unnest(in_currencies) as currency, unnest(in_issued_at) as issued_at
    ) c
    -- The limit keeps this a look-up by index: the plan is kept, and may have been made when the register was empty.
    left join lateral (select * from register r where r.resource = c.resource and r.step = 0 limit 1) r on true
    order by c.position
  loop
    if one.held_seq is not null then
      seq := one.held_seq;
      number := one.held_number;
      held_series := one.held_series;
      held_at := iso_ms(one.held_at);
      new_seqs[one.position] := null;
    else
      at := one.place;
      seq := lasts[at] + 1;
      number := format_number(prefixes[at], seq);
      held_series := null;
      held_at := null;
      lasts[at] := seq;
      heads[at] := link_hash(
        heads[at], register_entry(number, one.resource, one.kind, one.total_cents, one.currency, one.issued_at)
      );
      new_seqs[one.position] := seq;
      new_numbers[one.position] := number;
      new_hashes[one.position] := heads[at];
    end if;
    return next;
  end loop;

  insert into register
    (series_id, seq, number, resource, uid, kind, total_cents, currency, issued_at, claimed, hash)
  select in_series_ids[n.place], n.seq, n.number, n.resource, n.uid, n.kind, n.total_cents, n.currency, n.issued_at,
    n.claimed, n.hash
  from (
    select unnest(in_places) as place, unnest(new_seqs) as seq, unnest(new_numbers) as number,
      unnest(in_resources) as resource, unnest(in_uids) as uid, unnest(in_kinds) as kind,
      unnest(in_total_cents) as total_cents, unnest(in_currencies) as currency, unnest(in_issued_at) as issued_at,
      unnest(in_claimed) as claimed, unnest(new_hashes) as hash
  ) n
  where n.seq is not null;

  for at in 1..cardinality(in_series_ids) loop
    update series s set prefix = prefixes[at], last_seq = lasts[at], last_step = 0, head_hash = heads[at]
    where s.id = in_series_ids[at] and s.last_seq <> lasts[at];
  end loop;
end
$$;
