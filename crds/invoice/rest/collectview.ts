/** What REST shows of card collection: whether Pay now is offered and why not, what went back, and what deserves a look. */
import { displayCents } from '../../values/money.ts'
import { type RefundState, refundedCents } from '../facts/collected.ts'
import type { Credit } from '../facts/ledger.ts'
import { type CollectReason, offerOf } from '../money/collect.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceWorld } from '../world.ts'

/** `enabled`: the settings allow it; `offered`: Pay now is shown; `reason`: why it is not, null when it is. */
export type CollectView = { enabled: boolean; offered: boolean; reason: CollectReason | null }

/** How far the money of a credit note is on its way back; null when none is to go. `error`: why a part of it failed. */
export type RefundView = { state: RefundState; amount_cents: number; error: string | null }

/** @param world null when nothing has been observed yet: then nobody knows whether it can be paid by card */
export const viewCollect = (
  spec: InvoiceSpec,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): CollectView => {
  const around = world ?? { processor: null, account: null }
  return offerOf(spec, around, facts ?? { phase: 'draft' })
}

/** The least of what its parts have reached; `failed` as soon as one has. */
const stateOf = (states: readonly RefundState[]): RefundState => {
  const worst = (['failed', 'asked', 'pending'] as const).find((state) => states.includes(state))
  return worst ?? (states.length > 0 ? 'succeeded' : 'asked')
}

export const viewRefund = ({ id, refund, amountCents }: Credit, { refunds }: InvoiceWorld['collected']) => {
  if (!refund) return null
  const parts = refunds.filter(({ credit }) => credit === id)
  const error = parts.find(({ state }) => state === 'failed')?.reason ?? null
  return { state: stateOf(parts.map(({ state }) => state)), amount_cents: amountCents, error } satisfies RefundView
}

export const viewRefunded = (world: InvoiceWorld | null): number => refundedCents(world?.collected.refunds ?? [])

/** Card payments that were not booked, and refunds that failed. */
export const collectWarnings = (world: InvoiceWorld | null, currency: string): string[] => {
  if (!world) return []
  const { strays, refunds } = world.collected
  return [
    ...strays.map(({ detail }) => `A card payment was not booked: ${detail}. Look it up in the processor's dashboard.`),
    ...refunds
      .filter(({ state }) => state === 'failed')
      .map(
        ({ amountCents, intent, reason }) =>
          `The refund of ${displayCents(amountCents, currency)} of ${intent} failed (${reason ?? 'no reason was given'}): give it back in another way.`,
      ),
  ]
}
