/**
 * An edit of what was sent, until it is sent itself: a pending revision (rules/invoice.md#edits-of-what-was-sent). Says in
 * what the next document would differ from the one that the client has.
 */
import { numberOf, parseDecimal } from '../../values/decimal.ts'
import { faultsOf } from '../faults.ts'
import type { InvoiceItem, InvoiceSpec } from '../schema.ts'
import type { InvoiceWorld } from '../world.ts'
import { clientOf } from './client.ts'
import { hasFiguresOf } from './edit.ts'
import type { Client, Frozen, FrozenItem } from './frozen.ts'
import { isFixed, isVoided } from './order.ts'
import { sentOf } from './sent.ts'
import { type Totals, totalsOf } from './totals.ts'

/** One field, by its pointer in REST names; null where it is not given, or the line is not there. */
export type FieldChange = { pointer: string; from: unknown; to: unknown }

/** `totals` are null while the edit breaks a rule: then it cannot be sent. */
export type Revision = {
  changed: FieldChange[]
  totals: Pick<Totals, 'subtotalCents' | 'discountCents' | 'taxCents' | 'totalCents'> | null
}

const CLIENT_POINTERS = {
  name: '/client_name',
  email: '/client_email',
  address: '/client_address',
  city: '/client_city',
  postcode: '/client_postcode',
  country: '/client_country',
  taxId: '/client_tax_id',
} as const satisfies Record<keyof Client, string>

/** What is not given is null, as REST shows it; objects by their fields. */
const given = (value: unknown): unknown => (value === '' || value === undefined ? null : value)
const zeroRateOf = (rate: Frozen['zeroRate']) => (rate ? { category: rate.category, reason: rate.reason } : null)

type Line = { description: string; qty: number; unit_cents: number; tax_rate_bp: number }

const sentLine = ({ description, qty, unitCents, taxRateBp }: FrozenItem): Line => ({
  description,
  qty: numberOf(qty),
  unit_cents: unitCents,
  tax_rate_bp: taxRateBp,
})
const askedLine = ({ description, qty, unitCents, taxRateBp }: InvoiceItem, rateBp: number): Line => ({
  description,
  qty: numberOf(qty),
  unit_cents: unitCents,
  tax_rate_bp: taxRateBp ?? rateBp,
})

const lineChanges = (spec: InvoiceSpec, sent: Frozen): FieldChange[] => {
  const count = Math.max(spec.items.length, sent.items.length)
  return Array.from({ length: count }, (_, index) => index).flatMap((index): FieldChange[] => {
    const [asked, was] = [spec.items[index], sent.items[index]]
    const to = asked && askedLine(asked, spec.taxRateBp)
    const from = was && sentLine(was)
    if (!to || !from) return [{ pointer: `/items/${index}`, from: from ?? null, to: to ?? null }]
    const isSameQty = parseDecimal(asked.qty) === parseDecimal(was.qty)
    return (Object.keys(to) as (keyof Line)[])
      .filter((field) => (field === 'qty' ? !isSameQty : to[field] !== from[field]))
      .map((field) => ({ pointer: `/items/${index}/${field}`, from: from[field], to: to[field] }))
  })
}

/** In what a spec differs from the document, in the order of the document. */
export const changesOf = (spec: InvoiceSpec, sent: Frozen): FieldChange[] => {
  const client = clientOf(spec)
  const fields: [pointer: string, from: unknown, to: unknown][] = [
    ...(Object.keys(CLIENT_POINTERS) as (keyof Client)[]).map((field): [string, unknown, unknown] => [
      CLIENT_POINTERS[field],
      sent.client[field],
      client[field],
    ]),
    ['/due_date', sent.dueDate, spec.dueDate],
    ['/lang', sent.lang, spec.lang],
    ['/zero_rate', zeroRateOf(sent.zeroRate), zeroRateOf(spec.zeroRate)],
    ['/discount_cents', sent.discountCents, spec.discountCents],
    ['/terms', sent.terms, spec.terms],
  ]
  const plain = fields.map(([pointer, from, to]) => ({ pointer, from: given(from), to: given(to) }))
  return [...plain.filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to)), ...lineChanges(spec, sent)]
}

/** Null when nothing waits to be sent: it was never sent, is as it was sent, or is a record that no edit reaches. */
export const revisionOf = (spec: InvoiceSpec, world: InvoiceWorld): Revision | null => {
  const sent = sentOf(world)
  if (!sent || !world.record || isFixed(world) || isVoided(spec, world)) return null
  const changed = changesOf(spec, sent)
  if (changed.length === 0) return null
  if (hasFiguresOf(spec, sent)) return { changed, totals: sent }
  return { changed, totals: faultsOf(spec).length === 0 ? totalsOf(spec) : null }
}
