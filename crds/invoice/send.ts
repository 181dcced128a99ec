/** Numbering and sending: the claim of a number, and a frozen document for every send that was asked for. */
import { isMailedOut, recipientCapDetail } from './delivery.ts'
import { invoiceEvent } from './events.ts'
import { phaseOf } from './facts.ts'
import { freezeOf } from './freeze.ts'
import { issuedOn, seriesOf } from './number.ts'
import { payloadOf } from './payload.ts'
import type { InvoiceResource, InvoiceStep } from './plan.ts'
import type { InvoiceSpec } from './schema.ts'
import { totalsOf } from './totals.ts'
import type { InvoiceRecord, InvoiceWorld, Issuer } from './world.ts'

export const claimOf = (spec: InvoiceSpec, issuer: Issuer, now: Date): InvoiceStep => {
  const payload = payloadOf(spec, issuer.id)
  const series = seriesOf({
    account: spec.account,
    issuerId: issuer.id,
    prefix: issuer.numberPrefix,
    test: spec.test,
    kind: 'invoice',
    issuedOn: issuedOn(now, issuer.timeZone),
  })
  const { totalCents, currency } = payload
  return { do: 'claimNumber', series, totalCents, currency, issuedAt: now.toISOString(), payload }
}

/** What is left of numbering and sending; empty once every send that was asked for is frozen. */
export const sendSteps = (object: InvoiceResource, world: InvoiceWorld, record: InvoiceRecord): InvoiceStep[] => {
  const { spec } = object
  const n = world.sends.length + 1
  if (n > 1 + world.resends) return []
  const { totalCents } = totalsOf(spec)
  const receipt = spec.paid && world.payments.length === 0 ? spec.paid : null
  const amountCents = receipt?.amountCents ?? totalCents
  const recording: InvoiceStep[] = receipt
    ? [{ do: 'recordReceipt', amountCents, method: receipt.method, reference: receipt.reference }]
    : []
  const { isReceipt, books, ...frozen } = freezeOf({
    spec,
    world,
    record,
    n,
    receipt: receipt && { ...receipt, amountCents },
  })
  // a receipt of the whole total is paid before anybody was asked to pay
  const type = n === 1 && isReceipt ? 'invoice.paid' : 'invoice.sent'
  const event = invoiceEvent(type, object, {
    number: record.number,
    issuerId: record.claimed.issuerId,
    status: phaseOf({ sent: true, voided: false, books, overdue: false }),
    currency: spec.currency,
    books,
  })
  return [...recording, { ...frozen, event }]
}

/** One at a time: each is frozen before the next is decided on. */
export const resendSteps = (spec: InvoiceSpec, world: InvoiceWorld, now: Date): InvoiceStep[] => {
  const wish = world.wishes.find(({ kind }) => kind === 'send')
  if (wish && isMailedOut(world, now)) {
    const detail = recipientCapDetail(world.record?.number ?? '')
    return [{ do: 'decide', verdicts: [{ seq: wish.seq, accept: false, code: 'RECIPIENT_CAP', detail }] }]
  }
  return wish ? [{ do: 'takeResend', seq: wish.seq, n: world.sends.length + 1, isFree: spec.test }] : []
}
