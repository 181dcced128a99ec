/** The view with the verdict of its pass: what the mirror holds, and what REST answers. */
import { CREATED_FROM } from '../../kernel/object.ts'
import type { Plan } from '../../kernel/plan.ts'
import type { PayloadView } from '../order/payload.ts'
import type { InvoiceResource } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceStep } from '../steps.ts'
import { type InvoiceView, viewInvoice } from '../view.ts'
import type { InvoiceWorld } from '../world.ts'

export type ShownInvoice = InvoiceView & {
  /** Why nothing more happens until a person acts; the code is what a request would have been refused with. */
  stalled: { code: string; detail: string } | null
  /** Facts that this view has taken in: who appended one waits until it is reached. */
  fact_seq: number
}

/** What the creating call wrote down; null when it came by kubectl, or when somebody broke it. */
const createdFrom = ({ metadata }: InvoiceResource): PayloadView | null => {
  try {
    const value: unknown = JSON.parse(metadata.annotations?.[CREATED_FROM] ?? 'null')
    return typeof value === 'object' ? (value as PayloadView | null) : null
  } catch {
    return null
  }
}

/** An invoice as it was asked for, before anybody has looked at it. */
export const askedInvoice = (object: InvoiceResource): ShownInvoice => {
  const view = viewInvoice(object, null)
  return { ...view, created_from: createdFrom(object) ?? view.created_from, stalled: null, fact_seq: 0 }
}

export const shownInvoice = (
  object: InvoiceResource,
  world: InvoiceWorld,
  { status, verdict }: Plan<InvoiceStep, InvoiceFacts>,
): ShownInvoice => {
  const view = viewInvoice(object, world, status)
  return {
    ...view,
    created_from: createdFrom(object) ?? view.created_from,
    gate: world.sends.at(-1)?.gate ?? null,
    stalled: verdict.state === 'stalled' ? { code: verdict.code, detail: verdict.message } : null,
    fact_seq: world.factSeq,
  }
}
