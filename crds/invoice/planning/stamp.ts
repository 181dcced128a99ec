/** Documents that follow from what happened: the invoice stamped PAID or VOID, and its credit notes. */

import { enclosed } from '../document/enclose.ts'
import { RECEIPT, standingOf } from '../document/freeze.ts'
import type { Credit } from '../facts/ledger.ts'
import { settlementOf } from '../money/books.ts'
import { creditNoteOf } from '../money/credit.ts'
import { issuedOn, seriesOf } from '../order/number.ts'
import { orderOf, unsentOf } from '../order/order.ts'
import type { Payload } from '../order/payload.ts'
import { recipientOf } from '../order/sent.ts'
import type { InvoiceResource, InvoiceSpec } from '../schema.ts'
import { type InvoiceFacts, zoneOf } from '../status.ts'
import type { ClaimCreditStep, StampStep } from '../steps.ts'
import type { InvoiceWorld } from '../world.ts'
import { creditedEntry, voidedEntry } from './entries.ts'
import { eventOf } from './subject.ts'

/** Whether the client of what was sent has an address to be told at; test mode mails nobody. */
const isMailed = ({ test }: InvoiceSpec, world: InvoiceWorld): boolean => !test && recipientOf(world) !== ''

const has = (world: InvoiceWorld, id: string): boolean => world.snapshots.some((snapshot) => snapshot.id === id)

const stampOf = (world: InvoiceWorld, given: Omit<StampStep, 'do' | 'afterSends'>): StampStep => ({
  ...given,
  do: 'stamp',
  frozen: enclosed(given.frozen),
  afterSends: world.sends.length,
})

/** The document with PAID on it, and the receipt: once, when a payment has brought the balance to zero. */
export const paidSteps = (object: InvoiceResource, world: InvoiceWorld, facts: InvoiceFacts): StampStep[] => {
  const { spec } = object
  const order = orderOf(spec, world)
  if (facts.phase !== 'paid' || !order || has(world, 'paid')) return []
  const settled = settlementOf(order.totalCents, world)
  // receipt mode was frozen as paid, and a credit note is no payment
  if (settled?.by !== 'payment' || settled.id === RECEIPT) return []
  const frozen = standingOf(spec, world)
  if (!frozen) return []
  const mail = isMailed(spec, world) ? 'receipt' : null
  // invoice.paid was told with the payment itself
  return [stampOf(world, { id: 'paid', kind: 'paid', frozen, order, mail, event: null, entry: null })]
}

/** The document with VOID on it. `null`: there is nothing to make it of. */
export const voidSteps = (
  object: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
  now: Date,
): StampStep[] | null => {
  if (has(world, 'void')) return []
  const order = orderOf(object.spec, world)
  const standing = standingOf(object.spec, world)
  if (!order || !standing || !world.record) return null
  const frozen = { ...standing, voidedOn: issuedOn(now, zoneOf(world)) }
  const event = eventOf('invoice.voided', { object, world, facts, order })
  const mail = isMailed(object.spec, world) ? 'voided' : null
  const unsent = unsentOf(object.spec, world)
  const entry = voidedEntry(frozen, world, world.record)
  return [stampOf(world, { id: 'void', kind: 'void', frozen, order, ...(unsent && { unsent }), mail, event, entry })]
}

/** First its number, then its document. */
export const creditSteps = (
  object: InvoiceResource,
  world: InvoiceWorld,
  facts: InvoiceFacts,
  now: Date,
): (StampStep | ClaimCreditStep)[] => {
  const order = orderOf(object.spec, world)
  if (!order) return []
  return world.credits
    .filter(({ id }) => !has(world, id))
    .flatMap((credit): (StampStep | ClaimCreditStep)[] => {
      const { claimed } = credit
      return claimed
        ? noteOf(object, world, facts, { credit, claimed, order })
        : claimOf(object, world, credit, order, now)
    })
}

const claimOf = (
  { spec }: InvoiceResource,
  { issuer }: InvoiceWorld,
  credit: Credit,
  order: Payload,
  now: Date,
): ClaimCreditStep[] => {
  if (!issuer) return []
  const series = seriesOf({
    account: spec.account,
    issuerId: order.issuerId,
    prefix: issuer.numberPrefix,
    test: spec.test,
    kind: 'credit_note',
    issuedOn: issuedOn(now, issuer.timeZone),
  })
  const { id, amountCents } = credit
  return [{ do: 'claimCredit', id, series, amountCents, currency: order.currency, issuedAt: now.toISOString() }]
}

type Noted = { credit: Credit; claimed: NonNullable<Credit['claimed']>; order: Payload }

const noteOf = (object: InvoiceResource, world: InvoiceWorld, facts: InvoiceFacts, noted: Noted): StampStep[] => {
  const { credit, claimed, order } = noted
  const { id, amountCents } = credit
  const { number } = claimed
  const invoice = standingOf(object.spec, world)
  if (!invoice) return []
  const day = issuedOn(new Date(claimed.issuedAt), zoneOf(world))
  const frozen = creditNoteOf(credit, { invoice, taxRateBp: object.spec.taxRateBp, number, issuedOn: day })
  const mail = isMailed(object.spec, world) ? 'credited' : null
  const credited = eventOf('invoice.credit_noted', { object, world, facts, order })
  const event = { ...credited, data: { ...credited.data, credit_note: { id, number, amount_cents: amountCents } } }
  const entry = creditedEntry(frozen)
  return [stampOf(world, { id, kind: 'credit_note', frozen, order, mail, event, entry })]
}
