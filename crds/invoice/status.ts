/** The invoice's own part of the status: what its columns show and what REST answers. */
import { dayIn } from '../values/calendar.ts'
import { endedLinks } from '../values/links.ts'
import { displayCents } from '../values/money.ts'
import { type Books, booksOf, dueCents } from './money/books.ts'
import { issuedOn } from './order/number.ts'
import { isVoided, orderOf } from './order/order.ts'
import { dueDateOf } from './order/sent.ts'
import { CREDIT_NOTES_SHOWN_MAX, type InvoiceSpec, type InvoiceStatus, type PHASES } from './schema.ts'
import type { InvoiceWorld } from './world.ts'

export type InvoicePhase = (typeof PHASES)[number]
export type InvoiceFacts = Omit<InvoiceStatus, 'observedGeneration' | 'conditions' | 'phase'> & { phase: InvoicePhase }

const FALLBACK_ZONE = 'UTC'

/** The issuer's zone; UTC while the issuer is not known. */
export const zoneOf = (world: Pick<InvoiceWorld, 'issuer'>): string => world.issuer?.timeZone ?? FALLBACK_ZONE

/** The client's page. */
export const urlOf = (world: Pick<InvoiceWorld, 'publicUrl' | 'linkToken'>): string =>
  `${world.publicUrl}/i/${world.linkToken}`

type Open = { sent: boolean; voided: boolean; books: Books; overdue: boolean }

/** Overdue comes before partial: a balance is left after the due date, partly paid or not (rules/invoice.md#overdue). */
export const phaseOf = ({ sent, voided, books, overdue }: Open): InvoicePhase => {
  if (!sent) return 'draft'
  if (voided) return 'voided'
  if (dueCents(books) === 0) return 'paid'
  if (overdue) return 'overdue'
  return books.paidCents > 0 ? 'partial' : 'sent'
}

/** By these an older copy of the ledger is told, and given back what it lost (planning/recovery/restoration.ts). */
const creditNotesOf = ({ snapshots, credits }: InvoiceWorld): Pick<InvoiceFacts, 'creditNotes'> => {
  const notes = snapshots.flatMap(({ id, kind, number }) => {
    const credit = kind === 'credit_note' ? credits.find((one) => one.id === id) : undefined
    return credit ? [{ id, number, amountCents: credit.amountCents }] : []
  })
  return notes.length > 0 ? { creditNotes: notes.slice(-CREDIT_NOTES_SHOWN_MAX) } : {}
}

export const documentFacts = (spec: InvoiceSpec, world: InvoiceWorld, now: Date): InvoiceFacts => {
  const zone = zoneOf(world)
  const order = orderOf(spec, world)
  const { record } = world
  const linkVersions = endedLinks(world.linkVersions)
  const base = {
    factSeq: world.factSeq,
    ...(record
      ? {
          number: record.number,
          issuerId: record.claimed.issuerId,
          issuedOn: issuedOn(new Date(record.issuedAt), zone),
        }
      : {}),
    ...(world.sends.length > 0 ? { url: urlOf(world) } : {}),
    ...(world.sends.length > 1 ? { sends: world.sends.length } : {}),
    ...(linkVersions && { linkVersions }),
    ...creditNotesOf(world),
  }
  const voided = isVoided(spec, world)
  if (!order) return { ...base, phase: voided ? 'voided' : record ? 'sent' : 'draft' }
  const books = booksOf(order.totalCents, world)
  const dueDate = dueDateOf(spec, world)
  const overdue = dueDate !== undefined && dayIn(now, zone) > dueDate
  return {
    ...base,
    phase: phaseOf({ sent: record !== null, voided, books, overdue }),
    total: displayCents(order.totalCents, order.currency),
    totalCents: order.totalCents,
    currency: order.currency,
    paidCents: books.paidCents,
    creditedCents: books.creditedCents,
    // nothing of a voided invoice is asked for
    balanceCents: voided ? 0 : dueCents(books),
  }
}
