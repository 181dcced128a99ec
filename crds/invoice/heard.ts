/** What came from the client's page: that it was seen, and claims of payments. Verdicts on both, with what is told. */
import { booksOf } from './books.ts'
import { type Claim, type PendingClaim, ruleClaim } from './claim.ts'
import { standOf, type Verdict } from './decide.ts'
import { type InvoiceEventType, invoiceEvent } from './events.ts'
import type { InvoiceFacts } from './facts.ts'
import { orderOf } from './order.ts'
import type { Payload } from './payload.ts'
import type { InvoiceResource } from './plan.ts'
import type { InvoiceWorld } from './world.ts'

/** That the n-th send was looked at by its client: once for each send. */
export const viewKey = (n: number): string => `viewed:${n}`

/** `views`: first looks of the client, one for each send that was looked at. */
export type Heard = {
  claims: Claim[]
  pendingClaims: PendingClaim[]
  views: { seq: number; at: string }[]
  pendingViews: { seq: number }[]
}

type FactLike = {
  seq: number
  key: string
  kind: string
  body: Record<string, unknown>
  state: 'pending' | 'accepted' | 'refused'
  outcome?: Record<string, unknown> | null
  at: string
}

const claimingOf = ({ seq, key, body }: FactLike): PendingClaim => ({
  seq,
  id: key.slice(key.indexOf(':') + 1),
  paidOn: String(body.paidOn),
  reference: String(body.reference),
  amountCents: typeof body.amountCents === 'number' ? body.amountCents : null,
})

/** @param facts of one invoice, in the order of their happening */
export const heardOf = (facts: readonly FactLike[]): Heard => {
  const of = (kind: string, state: FactLike['state']) =>
    facts.filter((fact) => fact.kind === kind && fact.state === state)
  return {
    claims: of('claim', 'accepted').map((fact) => ({
      ...claimingOf(fact),
      amountCents: Number(fact.outcome?.amountCents),
      at: fact.at,
    })),
    pendingClaims: of('claim', 'pending').map(claimingOf),
    views: of('view', 'accepted').map(({ seq, at }) => ({ seq, at })),
    pendingViews: of('view', 'pending').map(({ seq }) => ({ seq })),
  }
}

type Hearing = { object: InvoiceResource; world: InvoiceWorld; facts: InvoiceFacts; order: Payload }

const told = (type: InvoiceEventType, { object, world, facts, order }: Hearing) =>
  invoiceEvent(type, object, {
    number: world.record?.number ?? '',
    issuerId: order.issuerId,
    status: facts.phase,
    currency: order.currency,
    books: booksOf(order.totalCents, world),
  })

/** In the order of their making, each seeing those before it. */
const claimVerdicts = (hearing: Hearing, standing: 'open' | 'voided'): Verdict[] => {
  const { world, order } = hearing
  const claims = [...world.claims]
  const asked = {
    books: booksOf(order.totalCents, world),
    standing,
    currency: order.currency,
    number: world.record?.number ?? '',
  }
  return world.pendingClaims.map((pending): Verdict => {
    const { seq, id, paidOn } = pending
    const ruled = ruleClaim(pending, { ...asked, claims })
    if ('code' in ruled) return { seq, accept: false, ...ruled }
    const { amountCents } = ruled
    claims.push({ ...pending, amountCents, at: '' })
    const event = told('invoice.payment_claimed', hearing)
    const claim = { id, amount_cents: amountCents, paid_on: paidOn }
    return { seq, accept: true, outcome: { amountCents }, event: { ...event, data: { ...event.data, claim } } }
  })
}

/** Empty when there is nothing to decide, or when the invoice is still being sent for the first time. */
export const heardVerdicts = (object: InvoiceResource, world: InvoiceWorld, facts: InvoiceFacts): Verdict[] => {
  if (world.pendingClaims.length === 0 && world.pendingViews.length === 0) return []
  const standing = standOf(object, world)
  const order = orderOf(object.spec, world)
  if (standing === null || standing === 'draft' || order === null) return []
  const hearing = { object, world, facts, order }
  const views = world.pendingViews.map(
    ({ seq }): Verdict => ({ seq, accept: true, outcome: {}, event: told('invoice.viewed', hearing) }),
  )
  return [...views, ...claimVerdicts(hearing, standing)]
}
