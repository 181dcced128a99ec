/** Numbering and sending: the claim of a number, and a frozen document for every send that was asked for. */

import { sizeFaults } from '../document/drawcost.ts'
import { freezeOf } from '../document/freeze.ts'
import { invoiceEvent } from '../events.ts'
import type { InvoiceRecord } from '../facts/ledger.ts'
import { issuedOn, seriesOf } from '../order/number.ts'
import { payloadOf } from '../order/payload.ts'
import { totalsOf } from '../order/totals.ts'
import type { InvoiceResource, InvoiceSpec } from '../schema.ts'
import { phaseOf } from '../status.ts'
import type { InvoiceStep } from '../steps.ts'
import type { InvoiceWorld, Issuer } from '../world.ts'
import { isMailedOut, recipientCapDetail } from './delivery.ts'
import { amendedBy } from './entries.ts'

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

const receiptOf = (spec: InvoiceSpec, { payments }: InvoiceWorld) => {
  if (!spec.paid || payments.length > 0) return null
  const { amountCents = totalsOf(spec).totalCents, method, reference } = spec.paid
  return { amountCents, method, reference }
}

/** What is left of numbering and sending; empty once every send that was asked for is frozen. */
export const sendSteps = (object: InvoiceResource, world: InvoiceWorld, record: InvoiceRecord): InvoiceStep[] => {
  const { spec } = object
  const n = world.sends.length + 1
  if (n > 1 + world.resends) return []
  const receipt = receiptOf(spec, world)
  const recording: InvoiceStep[] = receipt ? [{ do: 'recordReceipt', ...receipt }] : []
  const { isReceipt, books, ...frozen } = freezeOf({ spec, world, record, n, receipt })
  // a receipt of the whole total is paid before anybody was asked to pay
  const type = n === 1 && isReceipt ? 'invoice.paid' : 'invoice.sent'
  const event = invoiceEvent(type, object, {
    number: record.number,
    issuerId: record.claimed.issuerId,
    status: phaseOf({ sent: true, voided: false, books, overdue: false }),
    currency: frozen.frozen.currency,
    books,
  })
  return [...recording, { ...frozen, event, entry: amendedBy(frozen.frozen, world, record) }]
}

/** One at a time: each is frozen before the next is decided on. */
export const resendSteps = (spec: InvoiceSpec, world: InvoiceWorld, now: Date): InvoiceStep[] => {
  const request = world.requests.find(({ kind }) => kind === 'send')
  if (request && isMailedOut(world, now)) {
    const detail = recipientCapDetail(world.record?.number ?? '')
    return [{ do: 'decide', verdicts: [{ seq: request.seq, accept: false, code: 'RECIPIENT_CAP', detail }] }]
  }
  const [tooLarge] = request ? sizeFaults(spec) : []
  if (request && tooLarge) {
    const { code, pointer, detail } = tooLarge
    return [{ do: 'decide', verdicts: [{ seq: request.seq, accept: false, code, detail: `${pointer} ${detail}` }] }]
  }
  return request ? [{ do: 'takeResend', seq: request.seq, n: world.sends.length + 1, isFree: spec.test }] : []
}
