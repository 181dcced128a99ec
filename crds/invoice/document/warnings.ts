/** What the owner of an invoice should know and nobody refuses: money to be given back, mail that goes to nobody, documents that lack something. */

import type { Meta } from '../../kernel/object.ts'
import { displayCents } from '../../values/money.ts'
import { refundingCents } from '../facts/collected.ts'
import { newestSend } from '../facts/ledger.ts'
import { faultsOf } from '../faults.ts'
import { booksOf, owedBackCents } from '../money/books.ts'
import { askedOf } from '../order/edit.ts'
import { isFixed, issuerIdOf } from '../order/order.ts'
import { heldWarning } from '../planning/recurrence.ts'
import { collectWarnings } from '../rest/collectview.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceWorld } from '../world.ts'
import { draftOf } from './freeze.ts'
import { documentWarnings } from './words/documentwarnings.ts'

type Viewed = { metadata: Meta; spec: InvoiceSpec }

/** On what was sent last, else on the draft; there is nothing to be mended on a voided one. */
export const documentWarningsOf = (
  { metadata, spec }: Viewed,
  world: InvoiceWorld | null,
  facts: InvoiceFacts | undefined,
): string[] => {
  const sent = newestSend(world?.sends ?? [])?.frozen
  if (!world || facts?.phase === 'voided') return []
  if (sent) return documentWarnings(sent)
  if (!world.issuer || faultsOf(spec).length > 0) return []
  return documentWarnings(draftOf(spec, world.issuer, new Date(metadata.creationTimestamp)))
}

/** What was edited since it was sent, and comes to something else. */
const editWarning = (spec: InvoiceSpec, world: InvoiceWorld | null): string[] => {
  const sent = newestSend(world?.sends ?? [])?.frozen
  if (!world || !sent) return []
  const edit = isFixed(world) ? world.unsent?.edit : askedOf(spec, issuerIdOf(spec, world), sent)
  if (!edit || edit.totalCents === sent.totalCents) return []
  const [edited, owed] = [edit.totalCents, sent.totalCents].map((cents) => displayCents(cents, sent.currency))
  return isFixed(world)
    ? [
        `The edit to ${edited} was not sent in time and has no effect: the document of ${owed} that was sent is on record.`,
      ]
    : [`It was edited to ${edited} since it was sent: ${owed} is asked for and owed, as sent, until you send it again.`]
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
    ...editWarning(spec, world),
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
