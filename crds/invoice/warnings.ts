/** What the owner of an invoice should know and nobody refuses: money to be given back, mail that goes to nobody, documents that lack something. */
import { displayCents } from '../money.ts'
import type { Meta } from '../object.ts'
import { booksOf, owedBackCents } from './books.ts'
import { refundingCents } from './collected.ts'
import { collectWarnings } from './collectview.ts'
import type { InvoiceFacts } from './facts.ts'
import { faultsOf } from './faults.ts'
import { draftOf } from './freeze.ts'
import { paperWarnings } from './paperwords.ts'
import { heldWarning } from './recurrence.ts'
import type { InvoiceSpec } from './schema.ts'
import type { InvoiceWorld } from './world.ts'

type Viewed = { metadata: Meta; spec: InvoiceSpec }

/** On what was sent last, else on the draft; there is nothing to be mended on a voided one. */
export const paperWarningsOf = (
  { metadata, spec }: Viewed,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): string[] => {
  const sent = world?.sends.at(-1)?.frozen
  if (!world || facts?.phase === 'voided') return []
  if (sent) return paperWarnings(sent)
  if (!world.issuer || faultsOf(spec).length > 0) return []
  return paperWarnings(draftOf(spec, world.issuer, new Date(metadata.creationTimestamp)))
}

export const warningsOf = (
  spec: InvoiceSpec,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): string[] => {
  const money = (cents: number) => displayCents(cents, facts?.currency ?? spec.currency)
  const backCents = refundingCents(world?.collected.refunds ?? [])
  const keptCents = (facts?.paidCents ?? 0) - backCents
  const owed =
    world && facts?.totalCents !== undefined ? owedBackCents(booksOf(facts.totalCents, world)) - backCents : 0
  return [
    ...heldWarning(spec),
    ...(spec.send && !spec.test && spec.clientEmail === undefined
      ? ['There is no client_email, so nothing is emailed: pass the link on yourself.']
      : []),
    ...(facts?.phase === 'voided' && keptCents > 0
      ? [`${money(keptCents)} came in for this voided invoice and stays on record: give it back to the client.`]
      : []),
    ...(facts?.phase !== 'voided' && owed > 0
      ? [`${money(owed)} was paid beyond the total less its credit notes: give it back to the client.`]
      : []),
    ...collectWarnings(world, facts?.currency ?? spec.currency),
  ]
}
