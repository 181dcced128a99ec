/** What came from the client's page: that it was seen, and claims of payments. Verdicts on both, with what is told. */

import type { PaymentClaim, PendingClaim } from '../money/claim.ts'
import type { FactLike } from './fact.ts'

/** That the n-th send was looked at by its client: once for each send. */
export const viewKey = (n: number): string => `viewed:${n}`

/** `views`: first looks of the client, one for each send that was looked at. */
export type ClientActivity = {
  claims: PaymentClaim[]
  pendingClaims: PendingClaim[]
  views: { seq: number; at: string }[]
  pendingViews: { seq: number }[]
}

const claimingOf = ({ seq, key, body }: FactLike): PendingClaim => ({
  seq,
  id: key.slice(key.indexOf(':') + 1),
  paidOn: String(body.paidOn),
  reference: String(body.reference),
  amountCents: typeof body.amountCents === 'number' ? body.amountCents : null,
})

/** @param facts of one invoice, in the order of their happening */
export const clientActivityOf = (facts: readonly FactLike[]): ClientActivity => {
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
