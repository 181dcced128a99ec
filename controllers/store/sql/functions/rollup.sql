-- What an account's books say of a month: one row per currency and issuer of an account, test invoices left out. A month begins and ends in each issuer's zone: the
-- instants come beside the issuers; an issuer that is not named has those of the last place.
-- What was issued, amended, voided and credited say the entries of the register, by their own dates: a month that is over
-- changes no more. When money moved say the facts, what is left to pay now says the view.
create or replace function rollup(
  in_account text, in_issuers text[], in_from timestamptz[], in_until timestamptz[]
)
returns table (
  currency text, issuer_id text, issued_count bigint, issued_cents bigint, voided_cents bigint,
  paid_gateway_cents bigint, paid_manual_cents bigint, received_on_voided_cents bigint,
  credited_cents bigint, refunded_cents bigint, outstanding_cents bigint, overdue_cents bigint, amended_cents bigint
)
language sql stable
begin atomic
  with issuer as (
    -- <account>/<issuer or TEST>/<kind>/<year> (crds/invoice/order/number.ts)
    select s.id as series_id, split_part(s.id, '/', 2) as id,
      coalesce(array_position(in_issuers, split_part(s.id, '/', 2)), cardinality(in_from)) as place
    from series s
    where s.account = in_account and split_part(s.id, '/', 2) <> 'TEST' and split_part(s.id, '/', 3) = 'invoice'
  ),
  month as (
    select i.series_id, i.id, in_from[i.place] as from_at, in_until[i.place] as until_at from issuer i
  ),
  entry as (
    select r.series_id, r.seq, r.step, r.entry, r.resource, r.total_cents, r.currency, r.reference, m.id as issuer,
      r.issued_at >= m.from_at and r.issued_at < m.until_at as is_now, r.issued_at, m.from_at, m.until_at
    -- All of them: money is dated by another process' clock, and may seem to have come before the number was given.
    from month m join register r on r.series_id = m.series_id
  ),
  entered as (
    select e.currency, e.issuer, e.entry,
      case when e.entry <> 'amended' then e.total_cents else e.total_cents - coalesce(
        (
          select a.total_cents from register a
          where a.resource = e.resource and a.step > 0 and a.entry = 'amended' and (a.seq, a.step) < (e.seq, e.step)
          order by a.seq desc, a.step desc limit 1
        ),
        (select n.total_cents from register n where n.resource = e.resource and n.step = 0)
      ) end as cents,
      case when e.entry = 'credited' and exists (
        select from snapshots p join facts f on f.resource = p.resource and f.key = 'credit:' || p.id
        where p.resource = e.resource and p.frozen ->> 'number' = e.reference and f.body ->> 'refund' = 'true'
      ) then e.total_cents else 0 end as refunded
    from entry e where e.is_now and e.entry <> 'lost'
  ),
  -- What came in, by invoice. On a voided one it counts as such in the month in which both had happened.
  came as (
    select e.currency, e.issuer, f.body ->> 'declaredBy' = 'gateway' as by_gateway, f.at >= e.from_at and f.at < e.until_at as is_now,
      greatest(f.at, v.issued_at) >= e.from_at and greatest(f.at, v.issued_at) < e.until_at and v.issued_at is not null as on_voided,
      coalesce((f.outcome ->> 'amountCents')::bigint, (f.body ->> 'amountCents')::bigint) as cents
    from entry e
    join facts f on f.resource = e.resource and f.kind = 'payment' and f.state = 'accepted' and f.at < e.until_at
    left join register v on v.resource = e.resource and v.entry = 'voided' and v.reference = ''
    where e.step = 0
  ),
  open as (
    select v.currency, w.issuer_id as issuer, w.status, v.balance_cents
    from mirror w cross join lateral json_to_record(w.view) as v(currency text, balance_cents bigint, test boolean)
    where w.kind = 'Invoice' and w.account = in_account and w.status in ('sent', 'partial', 'overdue') and not v.test
  ),
  part as (
    select e.currency, e.issuer, count(*) filter (where e.entry in ('issued', 'restored')) as issued_count,
      sum(e.cents) filter (where e.entry in ('issued', 'restored', 'amended')) as issued,
      sum(e.cents) filter (where e.entry = 'voided') as voided, 0 as gateway, 0 as manual, 0 as on_voided,
      sum(e.cents) filter (where e.entry = 'credited') as credited, sum(e.refunded) as refunded,
      0 as outstanding, 0 as overdue, sum(e.cents) filter (where e.entry = 'amended') as amended
    from entered e group by 1, 2
    union all
    select c.currency, c.issuer, 0, 0, 0, sum(c.cents) filter (where c.is_now and c.by_gateway is true),
      sum(c.cents) filter (where c.is_now and c.by_gateway is not true), sum(c.cents) filter (where c.on_voided),
      0, 0, 0, 0, 0
    from came c where c.is_now or c.on_voided group by 1, 2
    union all
    select o.currency, o.issuer, 0, 0, 0, 0, 0, 0, 0, 0, sum(o.balance_cents),
      sum(o.balance_cents) filter (where o.status = 'overdue'), 0
    from open o group by 1, 2
  )
  select p.currency, p.issuer, sum(p.issued_count)::bigint, coalesce(sum(p.issued), 0)::bigint,
    coalesce(sum(p.voided), 0)::bigint, coalesce(sum(p.gateway), 0)::bigint, coalesce(sum(p.manual), 0)::bigint,
    coalesce(sum(p.on_voided), 0)::bigint, coalesce(sum(p.credited), 0)::bigint, coalesce(sum(p.refunded), 0)::bigint,
    coalesce(sum(p.outstanding), 0)::bigint, coalesce(sum(p.overdue), 0)::bigint, coalesce(sum(p.amended), 0)::bigint
  from part p group by 1, 2
  order by 1, 2;
end;
