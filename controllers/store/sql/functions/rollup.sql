-- What an account's books say of a month: one row per currency and issuer of an account, test invoices left out. A month begins and ends in each issuer's zone: the
-- instants come beside the issuers; an issuer that is not named has those of the last place.
-- When an invoice was issued says the register, when money moved say the facts, how it stands now says its view.
create or replace function rollup(
  in_account text, in_issuers text[], in_from timestamptz[], in_until timestamptz[]
)
returns table (
  currency text, issuer_id text, issued_count bigint, issued_cents bigint, voided_cents bigint,
  paid_gateway_cents bigint, paid_manual_cents bigint, received_on_voided_cents bigint,
  credited_cents bigint, refunded_cents bigint, outstanding_cents bigint, overdue_cents bigint
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
    select r.resource, r.total_cents, r.currency, r.issued_at, m.id as issuer, m.from_at, m.until_at
    -- All of them: money is dated by another process' clock, and may seem to have come before the number was given.
    from month m join register r on r.series_id = m.series_id and r.step = 0 and r.entry <> 'lost'
  ),
  -- What moved in the month, by invoice.
  moved as (
    select e.resource, e.issuer, e.currency, e.total_cents, true as is_issued, 0 as gateway, 0 as manual, 0 as credited,
      0 as refunded
    from entry e where e.issued_at >= e.from_at and e.issued_at < e.until_at
    union all
    select e.resource, e.issuer, e.currency, e.total_cents, false,
      case when f.kind = 'payment' and f.body ->> 'declaredBy' = 'gateway' then a.cents else 0 end,
      case when f.kind = 'payment' and f.body ->> 'declaredBy' is distinct from 'gateway' then a.cents else 0 end,
      case when f.kind = 'credit' then a.cents else 0 end,
      case when f.kind = 'credit' and f.body ->> 'refund' = 'true' then a.cents else 0 end
    from entry e
    join facts f on f.resource = e.resource and f.kind in ('payment', 'credit') and f.state = 'accepted'
      and f.at >= e.from_at and f.at < e.until_at
    cross join lateral (
      select coalesce((f.outcome ->> 'amountCents')::bigint, (f.body ->> 'amountCents')::bigint) as cents
    ) a
  ),
  -- Beside the register's figures those of the view: an invoice may be edited until money comes in.
  shown as (
    select m.*, coalesce(v.currency, m.currency) as shown_currency, coalesce(v.total_cents, m.total_cents) as shown_total,
      coalesce(w.status = 'voided', false) as is_voided
    from moved m
    left join lateral (
      select w.status, w.view from mirror w where w.kind = 'Invoice' and w.name = m.resource limit 1
    ) w on true
    left join lateral json_to_record(w.view) as v(currency text, total_cents bigint) on true
  ),
  voided as (
    select v.currency, w.issuer_id as issuer, v.total_cents
    from mirror w cross join lateral json_to_record(w.view) as v(
      currency text, total_cents bigint, voided_at timestamptz, test boolean
    )
    join (
      select distinct on (m.id) m.id, m.from_at, m.until_at from month m order by m.id
    ) m on m.id = w.issuer_id
    where w.kind = 'Invoice' and w.account = in_account and w.status = 'voided' and not v.test
      and v.voided_at >= m.from_at and v.voided_at < m.until_at
  ),
  open as (
    select v.currency, w.issuer_id as issuer, w.status, v.balance_cents
    from mirror w cross join lateral json_to_record(w.view) as v(currency text, balance_cents bigint, test boolean)
    where w.kind = 'Invoice' and w.account = in_account and w.status in ('sent', 'partial', 'overdue') and not v.test
  ),
  part as (
    select s.shown_currency as currency, s.issuer, count(*) filter (where s.is_issued) as issued_count,
      sum(s.shown_total) filter (where s.is_issued) as issued, sum(s.gateway) as gateway, sum(s.manual) as manual,
      sum(s.gateway + s.manual) filter (where s.is_voided) as on_voided, sum(s.credited) as credited,
      sum(s.refunded) as refunded, 0 as voided, 0 as outstanding, 0 as overdue
    from shown s group by 1, 2
    union all
    select v.currency, v.issuer, 0, 0, 0, 0, 0, 0, 0, sum(v.total_cents), 0, 0 from voided v group by 1, 2
    union all
    select o.currency, o.issuer, 0, 0, 0, 0, 0, 0, 0, 0, sum(o.balance_cents),
      sum(o.balance_cents) filter (where o.status = 'overdue')
    from open o group by 1, 2
  )
  select p.currency, p.issuer, sum(p.issued_count)::bigint, coalesce(sum(p.issued), 0)::bigint, sum(p.voided)::bigint,
    sum(p.gateway)::bigint, sum(p.manual)::bigint, coalesce(sum(p.on_voided), 0)::bigint, sum(p.credited)::bigint,
    sum(p.refunded)::bigint, sum(p.outstanding)::bigint, coalesce(sum(p.overdue), 0)::bigint
  from part p group by 1, 2
  order by 1, 2;
end;
