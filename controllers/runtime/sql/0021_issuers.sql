-- Several issuers per account: each with a prefix that no other of the account has, a register of its own, and a logo.
-- One that is archived invoices no more, but its documents still need its zone and its prefix: rows are never deleted.
alter table issuers
  add column created_at timestamptz(3) not null default now(),
  add column archived_at timestamptz(3),
  -- {sha256, width, height} of the picture as it was made for documents.
  add column logo jsonb,
  add column prefix text not null generated always as (coalesce(profile ->> 'numberPrefix', 'INV')) stored;
create unique index issuer_prefix_once on issuers (account, prefix);

-- Where a series begins: whoever comes from another system goes on with the number after their last one.
alter table series add column first_seq bigint not null default 1 check (first_seq > 0);
-- Two series with one prefix would give one number twice.
create unique index series_prefix_once on series (account, prefix);

-- As before (0002), with two changes: a series that has begun keeps its prefix, whatever a claim says that was decided
-- before somebody changed it; and a prefix that another series of the account has is refused (series_prefix_once).
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
    update series s set prefix = prefixes[at], last_seq = lasts[at], head_hash = heads[at]
    where s.id = in_series_ids[at] and s.last_seq <> lasts[at];
  end loop;
end
$$;

-- As before (0002), of a series that may begin after 1. A first entry that went missing shows by its own hash: only the
-- first follows the hash of the series' id.
create or replace function verify_series(in_series_id text)
returns table (count bigint, last bigint, head_hash text, first_bad bigint)
language sql stable
begin atomic
  with entry as (
    select r.*, s.first_seq - 1 + row_number() over w as expected_seq,
      lag(r.hash, 1, genesis_hash(in_series_id)) over w as prev_hash
    from register r join series s on s.id = r.series_id
    where r.series_id = in_series_id
    window w as (order by r.seq)
  ),
  checked as (
    select e.seq, e.expected_seq, e.hash,
      e.seq = e.expected_seq
        and right(e.number, length(format_number('', e.seq))) = format_number('', e.seq)
        and e.hash = link_hash(
          e.prev_hash, register_entry(e.number, e.resource, e.kind, e.total_cents, e.currency, e.issued_at)
        ) as good
    from entry e
  ),
  summary as (
    select count(*) as count, max(c.seq) as last, min(c.expected_seq) filter (where not c.good) as first_bad,
      coalesce((array_agg(c.hash order by c.seq desc))[1], genesis_hash(in_series_id)) as tail_hash
    from checked c
  ),
  told as (
    select m.count, m.first_bad, m.tail_hash, s.last_seq, s.head_hash, coalesce(m.last, s.first_seq - 1) as last
    from summary m, series s where s.id = in_series_id
  )
  select t.count, t.last_seq, encode(t.head_hash, 'hex'),
    coalesce(t.first_bad, case when t.last <> t.last_seq or t.tail_hash <> t.head_hash then t.last + 1 end)
  from told t;
end;

-- Every account has its default issuer, whether it was ever written or not: a row to be locked, and its prefix taken.
create function keep_default_issuer(in_account text, in_default text) returns void
language sql
begin atomic
  insert into issuers (account, id, profile) values (in_account, in_default, '{}') on conflict (account, id) do nothing;
end;

-- Where the register of an issuer stands in the year of `in_series`: null, or why the next number cannot be `in_next`.
-- Forward only, and only before the first number of the year was given.
create function set_next_number(in_account text, in_series text, in_prefix text, in_next bigint) returns text
language plpgsql
as $$
declare
  held series;
begin
  select s.* into held from series s where s.id = in_series for no key update;
  if in_next = coalesce(held.last_seq, 0) + 1 then
    return null;
  elsif in_next <= coalesce(held.last_seq, 0) or held.last_seq >= held.first_seq then
    return 'NEXT_NUMBER_FIXED';
  end if;
  insert into series as s (id, account, prefix, first_seq, last_seq, head_hash)
  values (in_series, in_account, in_prefix, in_next, in_next - 1, genesis_hash(in_series))
  on conflict (id) do update set first_seq = excluded.first_seq, last_seq = excluded.last_seq
    where s.last_seq < s.first_seq and s.last_seq < excluded.last_seq;
  -- Somebody's first claim came in between.
  return case when found then null else 'NEXT_NUMBER_FIXED' end;
end
$$;

-- Gives null, or the code it is refused with. A repeat under the same id is the same issuer.
-- in_series is its register of invoices in the present year, in_year what follows the prefix there, such as '-026-'.
create function create_issuer(
  in_account text, in_default text, in_id text, in_profile jsonb, in_max integer,
  in_series text, in_year text, in_next bigint
) returns text
language plpgsql
as $$
begin
  perform keep_default_issuer(in_account, in_default);
  -- One at a time per account, so that the count holds.
  perform from issuers i where i.account = in_account and i.id = in_default for update;
  if exists (select from issuers i where i.account = in_account and i.id = in_id) then
    return null;
  elsif (select count(*) from issuers i where i.account = in_account) >= in_max then
    return 'ISSUER_LIMIT';
  end if;
  insert into issuers (account, id, profile) values (in_account, in_id, in_profile);
  if in_next is null then
    return null;
  end if;
  return set_next_number(in_account, in_series, in_profile ->> 'numberPrefix' || in_year, in_next);
end
$$;

-- Gives null, or the code it is refused with. in_change is a merge patch of the profile; in_archived null leaves that as it
-- is; in_series are the registers of the issuer in the present year, that of its invoices first.
create function change_issuer(
  in_account text, in_default text, in_id text, in_change jsonb, in_archived boolean, in_at timestamptz,
  in_series text[], in_year text, in_next bigint
) returns text
language plpgsql
as $$
declare
  held issuers;
  wanted jsonb;
  wanted_prefix text;
  refused text;
begin
  perform keep_default_issuer(in_account, in_default);
  select i.* into held from issuers i where i.account = in_account and i.id = in_id for update;
  if not found then
    return 'NOT_FOUND';
  end if;
  wanted := jsonb_strip_nulls(held.profile || in_change);
  wanted_prefix := coalesce(wanted ->> 'numberPrefix', 'INV');
  -- Claims wait here from now on, in the order in which they themselves lock.
  perform from (select s.id from series s where s.id = any (in_series) order by s.id for no key update) locked;
  if wanted_prefix <> held.prefix and exists (
    select from series s
    where s.id = any (in_series) and s.last_seq >= s.first_seq
      and s.prefix not in (wanted_prefix || in_year, 'CN' || wanted_prefix || in_year)
  ) then
    return 'PREFIX_IN_USE';
  end if;
  if in_next is not null then
    refused := set_next_number(in_account, in_series[1], wanted_prefix || in_year, in_next);
    if refused is not null then
      return refused;
    end if;
  end if;
  update series s set prefix = wanted_prefix || in_year
  where s.id = in_series[1] and s.last_seq < s.first_seq and s.prefix <> wanted_prefix || in_year;
  update issuers i set profile = wanted, updated_at = in_at,
    archived_at = case in_archived when true then coalesce(i.archived_at, in_at) when false then null else i.archived_at end
  where i.account = in_account and i.id = in_id;
  return null;
end
$$;

-- Pictures that somebody sent and nobody looked into yet, and what became of the last ones. seq counts through all accounts.
create table issuer_logos (
  seq bigint generated always as identity primary key,
  account text not null,
  issuer text not null,
  -- sha256 of the bytes as they were sent, which lie among the blobs.
  source text not null,
  state text not null default 'pending',
  -- How often somebody began to decode it: what takes the process down is not tried for ever.
  tries integer not null default 0,
  reason text,
  asked_at timestamptz(3) not null,
  foreign key (account, issuer) references issuers (account, id),
  constraint logo_is_sound check (
    state in ('pending', 'taken', 'refused') and (state = 'refused') = (reason is not null)
  )
);
create index issuer_logos_of on issuer_logos (account, issuer, seq);
create index issuer_logos_open on issuer_logos (account, seq) where state = 'pending';

create function ask_issuer_logo(in_account text, in_default text, in_issuer text, in_source text, in_at timestamptz)
returns bigint
language sql
begin atomic
  select keep_default_issuer(in_account, in_default);
  insert into issuer_logos (account, issuer, source, asked_at) values (in_account, in_issuer, in_source, in_at)
  returning seq;
end;

-- Says that decoding begins, and how often that has been said.
create function begin_issuer_logo(in_lease text, in_epoch bigint, in_seq bigint) returns integer
language plpgsql
as $$
declare
  now_tried integer;
begin
  perform fence(in_lease, in_epoch);
  update issuer_logos l set tries = l.tries + 1 where l.seq = in_seq and l.state = 'pending' returning l.tries into now_tried;
  return now_tried;
end
$$;

-- The verdict, once: a picture, or the reason why it is none. Of the older ones of the issuer nothing needs to be known.
create function settle_issuer_logo(in_lease text, in_epoch bigint, in_seq bigint, in_logo jsonb, in_reason text)
returns void
language plpgsql
as $$
declare
  settled issuer_logos;
begin
  perform fence(in_lease, in_epoch);
  update issuer_logos l set reason = in_reason, state = case when in_logo is null then 'refused' else 'taken' end
  where l.seq = in_seq and l.state = 'pending' returning l.* into settled;
  if not found then
    return;
  end if;
  delete from issuer_logos l
  where l.account = settled.account and l.issuer = settled.issuer and l.seq < settled.seq and l.state <> 'pending';
  if in_logo is not null then
    update issuers i set logo = in_logo, updated_at = now() where i.account = settled.account and i.id = settled.issuer;
  end if;
end
$$;

-- Takes the logo away, and whatever is still to be looked into with it.
create function drop_issuer_logo(in_account text, in_issuer text, in_at timestamptz) returns void
language sql
begin atomic
  update issuer_logos set state = 'refused', reason = 'was taken away before it was looked into'
  where account = in_account and issuer = in_issuer and state = 'pending';
  update issuers set logo = null, updated_at = in_at where account = in_account and id = in_issuer and logo is not null;
end;
