-- Who did what, for ever: one chain per account, each row's hash covers the one before it. Rows come from append_audit
-- alone, which has the account's head locked.
create table audit_heads (
  account text primary key,
  last_seq bigint not null default 0,
  head_hash bytea not null
) with (fillfactor = 40); -- updated by every append: room for the new version on the same page

create table audit (
  account text not null,
  seq bigint not null,
  at timestamptz(3) not null,
  -- Names the event, so that an append whose answer was lost can be sent again.
  once text not null,
  -- JSON, kept as the text that was hashed.
  entry text not null,
  hash bytea not null,
  primary key (account, seq),
  unique (account, once),
  -- Newlines divide what is hashed; accounts are names of resources and have none.
  constraint once_is_one_line check (strpos(once, e'\n') = 0)
);
create index audit_newest on audit (at desc, account, seq desc);
create trigger audit_is_append_only before update or delete on audit
  for each row execute function refuse_change();
create trigger audit_is_never_emptied before truncate on audit
  for each statement execute function refuse_change();
create trigger audit_heads_are_kept before delete on audit_heads
  for each row execute function refuse_change();
create trigger audit_heads_are_never_emptied before truncate on audit_heads
  for each statement execute function refuse_change();

-- How anybody recomputes a hash, with nothing but sha256 over UTF-8 text:
--   sha256( prev_hash \n account \n seq \n at \n once \n entry )
-- prev_hash is the hash of the row before in lower-case hex, for the first row the sha256 of 'audit/' and the account;
-- at as 2026-11-21T09:30:00.000Z. link_hash and genesis_hash are those of the register.
create function audit_entry(in_account text, in_seq bigint, in_at timestamptz, in_once text, in_entry text) returns text
language sql stable
return in_account || e'\n' || in_seq::text || e'\n' || iso_ms(in_at) || e'\n' || in_once || e'\n' || in_entry;

-- Appends many entries of many accounts in one round trip, in the order given within each account. What stands there
-- already (by account and once) is left out. Gives what was written.
create function append_audit(
  in_accounts text[], in_ats timestamptz(3)[], in_onces text[], in_entries text[]
)
returns table (account text, seq bigint)
language plpgsql
as $$
#variable_conflict use_column
declare
  head record;
  one record;
  next_seq bigint;
  next_hash bytea;
begin
  -- In the order of their names, so that two writers can never wait for one another in a circle.
  for head in select distinct a.account from unnest(in_accounts) as a(account) order by a.account loop
    select h.last_seq, h.head_hash into next_seq, next_hash
    from audit_heads h where h.account = head.account for no key update;
    if not found then
      insert into audit_heads (account, head_hash)
      values (head.account, genesis_hash('audit/' || head.account)) on conflict do nothing;
      select h.last_seq, h.head_hash into next_seq, next_hash
      from audit_heads h where h.account = head.account for no key update;
    end if;
    for one in
      select e.* from unnest(in_accounts, in_ats, in_onces, in_entries) with ordinality
        as e(account, at, once, entry, place)
      where e.account = head.account order by e.place
    loop
      continue when exists (select from audit a where a.account = head.account and a.once = one.once);
      next_seq := next_seq + 1;
      next_hash := link_hash(next_hash, audit_entry(head.account, next_seq, one.at, one.once, one.entry));
      insert into audit (account, seq, at, once, entry, hash)
      values (head.account, next_seq, one.at, one.once, one.entry, next_hash);
      account := head.account;
      seq := next_seq;
      return next;
    end loop;
    update audit_heads h set last_seq = next_seq, head_hash = next_hash
    where h.account = head.account and h.last_seq <> next_seq;
  end loop;
end
$$;

-- Recomputes a whole chain. first_bad is the first seq at which something is missing, moved or altered; a tail that was
-- cut off shows against the account's own head. No row: the account has no chain yet.
create function verify_audit(in_account text)
returns table (count bigint, head_hash text, first_bad bigint)
language sql stable
begin atomic
  with checked as (
    select a.seq, a.hash, row_number() over w as expected_seq,
      a.seq = row_number() over w and a.hash = link_hash(
        lag(a.hash, 1, genesis_hash('audit/' || in_account)) over w,
        audit_entry(a.account, a.seq, a.at, a.once, a.entry)
      ) as good
    from audit a where a.account = in_account
    window w as (order by a.seq)
  ),
  summary as (
    select count(*) as count, coalesce(max(c.seq), 0) as last,
      min(c.expected_seq) filter (where not c.good) as first_bad,
      coalesce((array_agg(c.hash order by c.seq desc))[1], genesis_hash('audit/' || in_account)) as tail_hash
    from checked c
  )
  select m.count, encode(coalesce(h.head_hash, m.tail_hash), 'hex'),
    coalesce(
      m.first_bad,
      case when m.last <> coalesce(h.last_seq, 0) or m.tail_hash <> coalesce(h.head_hash, m.tail_hash)
        then m.last + 1 end
    )
  from summary m left join audit_heads h on h.account = in_account;
end;
