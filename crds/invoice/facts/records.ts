/** What the facts of an invoice say: the part of the world that is read from the ledger's rows. */

import { recordedLinks } from '../../values/links.ts'
import type { Payload } from '../order/payload.ts'
import type { InvoiceItem } from '../schema.ts'
import type { InvoiceWorld } from '../world.ts'
import { type CardPayment, collectedOf } from './collected.ts'
import type { FactLike } from './fact.ts'
import type { Credit, Payment, Snapshot } from './ledger.ts'
import type { FactRequest } from './requests.ts'
import { restoredOf } from './restored.ts'
import { INVOICE_LINKS } from './versions.ts'
import { type ClientActivity, clientActivityOf } from './visits.ts'

export type Recorded = ClientActivity &
  Pick<
    InvoiceWorld,
    | 'payments'
    | 'credits'
    | 'snapshots'
    | 'requests'
    | 'resends'
    | 'order'
    | 'unsent'
    | 'undelivered'
    | 'returned'
    | 'collected'
    | 'restored'
    | 'links'
  >

/** The keys of facts, one place for all who write and read them. */
export const paymentKey = (id: string): string => `payment:${id}`
export const creditKey = (id: string): string => `credit:${id}`
export const sendKey = (id: string): string => `send:${id}`
export const snapshotKey = (id: string): string => `snapshot:${id}`

const idOf = (key: string): string => key.slice(key.indexOf(':') + 1)
const amountOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const itemsOf = (value: unknown): InvoiceItem[] | null => (Array.isArray(value) ? (value as InvoiceItem[]) : null)

const paymentOf = ({ seq, key, body, outcome, at }: FactLike): Payment => ({
  id: idOf(key),
  seq,
  // a blank payment is as much as was due when it was decided
  amountCents: Number(outcome?.amountCents ?? body.amountCents),
  method: String(body.method),
  reference: String(body.reference),
  declaredBy: body.declaredBy === 'gateway' ? 'gateway' : 'owner',
  receivedAt: at,
})

const creditOf = ({ seq, key, body, outcome, at }: FactLike): Credit => ({
  id: idOf(key),
  seq,
  amountCents: Number(outcome?.amountCents),
  isWhole: outcome?.isWhole === true,
  items: itemsOf(body.items),
  reason: String(body.reason ?? ''),
  refund: body.refund === true,
  at,
})

const snapshotOf = ({ key, body, at }: FactLike): Snapshot => ({
  id: idOf(key),
  kind: body.kind as Snapshot['kind'],
  number: String(body.number),
  afterSends: Number(body.afterSends),
  sha256: String(body.sha256),
  bytes: Number(body.bytes),
  at,
})

const cardPaymentOf = ({ session, reference, units, currency, livemode }: FactLike['body']): CardPayment => ({
  session: String(session),
  intent: String(reference),
  units: Number(units),
  currency: String(currency),
  livemode: livemode === true,
})

const requestOf = ({ seq, key, kind, body }: FactLike): FactRequest[] => {
  const base = { seq, id: idOf(key) }
  const amountCents = amountOf(body.amountCents)
  if (kind === 'payment')
    return [{ ...base, kind, amountCents, ...(body.declaredBy === 'gateway' && { card: cardPaymentOf(body) }) }]
  if (kind === 'credit')
    return [{ ...base, kind, amountCents, items: itemsOf(body.items), refund: body.refund === true }]
  return kind === 'send' ? [{ ...base, kind }] : []
}

/** What the last adoption wrote down of the view before it (controllers/kinds/invoice/controller.ts). */
const returnedOf = (adopted: readonly FactLike[]): Recorded['returned'] => {
  const { createdAt, version } = adopted.findLast(({ body }) => body.createdAt !== undefined)?.body ?? {}
  return typeof createdAt === 'string' && typeof version === 'number' ? { createdAt, version } : null
}

/** Reads the facts of one invoice, in whatever order they come. */
export const recordedOf = (facts: readonly FactLike[]): Recorded => {
  const inOrder = facts.toSorted((a, b) => a.seq - b.seq)
  const accepted = (kind: string) => inOrder.filter((fact) => fact.kind === kind && fact.state === 'accepted')
  const settled = inOrder.filter(({ state }) => state === 'accepted')
  const first = settled.find(({ outcome, body }) => (outcome?.order ?? body.order) !== undefined)
  return {
    payments: accepted('payment').map(paymentOf),
    credits: accepted('credit').map(creditOf),
    snapshots: accepted('snapshot').map(snapshotOf),
    requests: inOrder.filter(({ state }) => state === 'pending').flatMap(requestOf),
    resends: accepted('send').length,
    collected: collectedOf(inOrder),
    undelivered: accepted('undelivered').map(({ body }) => String(body.purpose)),
    ...clientActivityOf(inOrder),
    restored: restoredOf(inOrder),
    links: recordedLinks(INVOICE_LINKS, inOrder),
    returned: returnedOf(accepted('adopted')),
    order: ((first?.outcome?.order ?? first?.body.order) as Payload | undefined) ?? null,
    unsent: ((first?.outcome?.unsent ?? first?.body.unsent) as InvoiceWorld['unsent'] | undefined) ?? null,
  }
}

/** The PDF that shows the invoice as it stands: of its last send, or stamped since. */
export const newestDocument = <S extends { sha256: string }>(
  sends: readonly S[],
  snapshots: readonly Snapshot[],
): S | Snapshot | undefined =>
  snapshots.findLast(({ kind, afterSends }) => kind !== 'credit_note' && afterSends === sends.length) ?? sends.at(-1)
