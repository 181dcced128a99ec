-- Appends many entries of many accounts in one round trip, in the order given within each account. What stands there
-- already (by account and once) is left out. Gives what was written.
create or replace function append_audit(
  in_accounts text[], in_ats timestamptz(3)[], in_onces text[], in_entries text[]
)
returns table (account text, seq bigint)
language plpgsql security definer set search_path = public, pg_temp
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
