/**
 * An edit of what was sent: what is asked for now, beside the document that the client has. It takes effect when it is sent;
 * until then what was sent is owed (rules/invoice.md#edits-of-what-was-sent).
 */
import { parseDecimal } from '../../values/decimal.ts'
import { faultsOf } from '../faults.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { Frozen } from './frozen.ts'
import { type Payload, payloadOf } from './payload.ts'
import { type TotalsInput, totalsOf } from './totals.ts'

type Figures = Pick<Frozen, 'currency' | 'discountCents' | 'items'>

/** Whether totals are asked for of the very figures that stand on the document. */
export const hasFiguresOf = ({ items, taxRateBp, discountCents, currency }: TotalsInput, sent: Figures): boolean =>
  currency === sent.currency &&
  discountCents === sent.discountCents &&
  items.length === sent.items.length &&
  items.every((item, index) => {
    const line = sent.items[index]
    const isSameQty = line !== undefined && parseDecimal(item.qty) === parseDecimal(line.qty)
    return isSameQty && item.unitCents === line.unitCents && (item.taxRateBp ?? taxRateBp) === line.taxRateBp
  })

/**
 * What is asked for comes to, in hundredths: by the document's own total where the figures are the same. Documents were
 * rounded to hundredths whatever the currency, and none of them is computed again.
 */
export const totalBeside = (input: TotalsInput, sent: Figures & Pick<Frozen, 'totalCents'>): number =>
  hasFiguresOf(input, sent) ? sent.totalCents : totalsOf(input).totalCents

/** Amounts that are refused today and stand on the document: they were sent before that. */
const isOldSum = (spec: InvoiceSpec, sent: Frozen | undefined): boolean =>
  sent !== undefined && hasFiguresOf(spec, sent) && faultsOf(spec).every(({ code }) => code === 'BAD_AMOUNT')

/** The payload of a spec beside what was sent last; null when the spec has faults. */
export const askedOf = (spec: InvoiceSpec, issuerId: string, sent: Frozen | undefined): Payload | null => {
  if (faultsOf(spec).length > 0 && !isOldSum(spec, sent)) return null
  const asked = payloadOf(spec, issuerId)
  return sent ? { ...asked, totalCents: totalBeside(spec, sent) } : asked
}
