/** The invoice's own part of the status: what its columns show and what REST answers. */
import { dayIn } from '../calendar.ts'
import { displayCents } from '../money.ts'
import { issuedOn } from './number.ts'
import type { InvoiceSpec, InvoiceStatus, PHASES } from './schema.ts'
import { totalsOf } from './totals.ts'
import type { InvoiceWorld } from './world.ts'

export type Phase = (typeof PHASES)[number]
export type InvoiceFacts = Omit<InvoiceStatus, 'observedGeneration' | 'conditions' | 'phase'> & { phase: Phase }

const FALLBACK_ZONE = 'UTC'

export const paidCentsOf = (world: Pick<InvoiceWorld, 'payments'>): number =>
  world.payments.reduce((total, payment) => total + payment.amountCents, 0)

/** The client's page. */
export const urlOf = (world: Pick<InvoiceWorld, 'publicUrl' | 'linkToken'>): string =>
  `${world.publicUrl}/i/${world.linkToken}`

/** Overdue comes before partial: a balance is left after the due date, partly paid or not (DESIGN section 5). */
export const phaseOf = (open: { sent: boolean; paidCents: number; balanceCents: number; overdue: boolean }): Phase => {
  if (!open.sent) return 'draft'
  if (open.balanceCents <= 0) return 'paid'
  if (open.overdue) return 'overdue'
  return open.paidCents > 0 ? 'partial' : 'sent'
}

type Judged = {
  /** False when the spec has faults, so that no total can be had from it. */
  computable: boolean
  /** True when the spec was edited after money came in: what was frozen counts. */
  locked: boolean
}

/** The amounts that count: of the spec while it can be edited, else of the last frozen document. */
const amountsOf = (spec: InvoiceSpec, world: InvoiceWorld, { computable, locked }: Judged) => {
  const frozen = world.sends.at(-1)?.frozen
  if (frozen && (locked || !computable)) return { ...frozen, dueDate: frozen.dueDate ?? undefined }
  if (!computable) return null
  return { totalCents: totalsOf(spec).totalCents, currency: spec.currency, dueDate: spec.dueDate }
}

export const documentFacts = (spec: InvoiceSpec, world: InvoiceWorld, now: Date, judged: Judged): InvoiceFacts => {
  const zone = world.issuer?.timeZone ?? FALLBACK_ZONE
  const amounts = amountsOf(spec, world, judged)
  const record = world.record
  const base = {
    factSeq: world.factSeq,
    ...(record ? { number: record.number, issuedOn: issuedOn(new Date(record.issuedAt), zone) } : {}),
  }
  const page = world.sends.length > 0 ? { url: urlOf(world) } : {}
  if (!amounts) return { ...base, ...page, phase: record ? 'sent' : 'draft' }
  const paidCents = paidCentsOf(world)
  const balanceCents = amounts.totalCents - paidCents
  const overdue = amounts.dueDate !== undefined && dayIn(now, zone) > amounts.dueDate
  return {
    ...base,
    ...page,
    phase: phaseOf({ sent: record !== null, paidCents, balanceCents, overdue }),
    total: displayCents(amounts.totalCents, amounts.currency),
    totalCents: amounts.totalCents,
    currency: amounts.currency,
    paidCents,
    balanceCents,
  }
}
