-- A series of numbers: 1..last_seq, without hole or repeat. head_hash is the hash of its last entry, or of its id.
-- Written by claim_numbers alone. No checks here: they are compiled anew for every statement, a lone claim would pay for
-- them twice, and whatever a series says stands in its entries too, where it is checked.
create table series (
  id text primary key,
  account text not null,
  -- The newest one, ready to be followed by the sequence, such as 'INV-026-'. A change of it carries the series on.
  prefix text not null,
  last_seq bigint not null default 0,
  head_hash bytea not null,
  created_at timestamptz(3) not null default now()
) with (fillfactor = 40); -- one row is updated by every claim: room for the new version on the same page
create index series_of_account on series (account, id);

-- Every number ever given, for ever. Each entry's hash covers the hash of the one before it (see register_entry).
-- Newlines divide what is hashed, so no field may hold one. Rows come from claim_numbers alone, which has the series
-- locked; a foreign key to it would be looked up anew for every row and cost a third of the insert.
create table register (
  series_id text not null,
  seq bigint not null,
  number text not null,
  -- What the number was given to, such as 'namespace/name'. One number per resource, whatever the series.
  resource text not null unique,
  uid text not null,
  kind text not null,
  total_cents bigint not null,
  currency text not null,
  issued_at timestamptz(3) not null,
  -- What was asked when the number was given: compared when the same resource is applied again.
  claimed jsonb not null,
  hash bytea not null,
  primary key (series_id, seq),
  constraint entry_is_sound check (
    resource <> '' and uid <> '' and strpos(resource || number, e'\n') = 0 and seq > 0 and length(hash) = 32
    and kind in ('invoice', 'credit_note') and length(currency) = 3 and strpos(currency, e'\n') = 0
    and total_cents between -9007199254740991 and 9007199254740991
  )
);
create trigger register_is_append_only before update or delete on register
  for each row execute function refuse_change();
create trigger register_is_never_emptied before truncate on register
  for each statement execute function refuse_change();

-- <PREFIX>-<YYY>-<NNNN>: four digits, more when they are needed (spec/1 rule 2, DESIGN section 5).
create function format_number(in_prefix text, in_seq bigint) returns text
language sql immutable
return in_prefix || lpad(in_seq::text, greatest(4, length(in_seq::text)), '0');

create function iso_ms(in_at timestamptz) returns text
language sql stable
return to_char(in_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- How an accountant recomputes a hash, with nothing but sha256 over UTF-8 text:
--   sha256( prev_hash \n number \n resource \n kind \n total_cents \n currency \n issued_at )
-- prev_hash is the hash of the entry before in lower-case hex, for the first entry the sha256 of the series' id;
-- total_cents in decimal, issued_at as 2026-11-21T09:30:00.000Z. This function is the part after the first newline.
create function register_entry(
  in_number text, in_resource text, in_kind text, in_total_cents bigint, in_currency text, in_issued_at timestamptz
) returns text
language sql stable
return in_number || e'\n' || in_resource || e'\n' || in_kind || e'\n' || in_total_cents::text || e'\n'
  || in_currency || e'\n' || iso_ms(in_issued_at);

create function genesis_hash(in_series_id text) returns bytea
language sql immutable
return sha256(convert_to(in_series_id, 'UTF8'));

create function link_hash(in_prev_hash bytea, in_entry text) returns bytea
language sql stable
return sha256(convert_to(encode(in_prev_hash, 'hex') || e'\n' || in_entry, 'UTF8'));

-- Gives the next numbers of their series to many claims in one round trip and one transaction, so the lock on a series
-- is never held while a client thinks. A resource that has a number keeps it; held_series and held_at then say of when.
-- Within a series the order is that of the claims; the answers come in the order of the claims.
-- Claims come as one array per field, which is parsed at half the cost of JSON; in_places says which of the series
-- (counted from 1) each is for. No series and no resource may be named twice.
create function claim_numbers(
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
    order by g.id
  loop
    select s.* into row_of from series s where s.id = one.id for no key update;
    if not found then
      insert into series (id, account, prefix, head_hash)
      values (one.id, one.account, one.prefix, genesis_hash(one.id)) on conflict do nothing;
      select s.* into row_of from series s where s.id = one.id for no key update;
    end if;
    if row_of.account <> one.account then
      raise exception 'series % is of another account', one.id using errcode = '23514';
    end if;
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
    left join lateral (select * from register r where r.resource = c.resource limit 1) r on true
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
      number := format_number(in_prefixes[at], seq);
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
    update series s set prefix = in_prefixes[at], last_seq = lasts[at], head_hash = heads[at]
    where s.id = in_series_ids[at] and s.last_seq <> lasts[at];
  end loop;
end
$$;

-- Recomputes a whole series. first_bad is the first sequence at which something is missing, moved or altered; a tail
-- that was cut off shows against the series' own head.
create function verify_series(in_series_id text)
returns table (count bigint, last bigint, head_hash text, first_bad bigint)
language sql stable
begin atomic
  with entry as (
    select r.*, row_number() over w as expected_seq, lag(r.hash, 1, genesis_hash(in_series_id)) over w as prev_hash
    from register r where r.series_id = in_series_id
    window w as (order by r.seq)
  ),
  checked as (
    select e.seq, e.expected_seq, e.hash,
      right(e.number, length(format_number('', e.seq))) = format_number('', e.seq)
        and e.hash = link_hash(
          e.prev_hash, register_entry(e.number, e.resource, e.kind, e.total_cents, e.currency, e.issued_at)
        ) as good
    from entry e
  ),
  summary as (
    select count(*) as count, coalesce(max(c.seq), 0) as last,
      min(c.expected_seq) filter (where not c.good) as first_bad,
      coalesce((array_agg(c.hash order by c.seq desc))[1], genesis_hash(in_series_id)) as tail_hash
    from checked c
  )
  select m.count, s.last_seq, encode(s.head_hash, 'hex'),
    coalesce(m.first_bad, case when m.last <> s.last_seq or m.tail_hash <> s.head_hash then m.last + 1 end)
  from summary m, series s where s.id = in_series_id;
end;
