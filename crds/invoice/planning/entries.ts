/**
 * What the register is told of a number after it was given: amended by a later send, voided, credited. Each entry is written
 * in the transaction of the document that it follows from (rules/invoice.md#register).
 */
import { canonical } from '../../values/canonical.ts'
import { plainOf } from '../document/freeze.ts'
import { type InvoiceRecord, newestSend } from '../facts/ledger.ts'
import type { Frozen } from '../order/frozen.ts'
import type { LaterEntry } from '../order/numbering.ts'
import type { InvoiceWorld } from '../world.ts'

/** What stands on a document whatever became of it since, in one spelling however it was kept. */
const wordingOf = (frozen: Frozen): string => canonical(JSON.parse(JSON.stringify(plainOf(frozen))))

/** The total of the newest entry: that of the last send, before the first one that of the claim. */
const enteredCents = ({ sends }: InvoiceWorld, record: InvoiceRecord): number =>
  newestSend(sends)?.frozen.totalCents ?? record.claimed.totalCents

/** A send of the same document once more enters nothing; its digest follows when it is drawn. */
export const amendedBy = (
  frozen: Frozen,
  world: InvoiceWorld,
  record: InvoiceRecord,
): Omit<LaterEntry, 'reference'> | null => {
  const last = newestSend(world.sends)?.frozen
  const { totalCents, currency } = frozen
  const isSame = last ? wordingOf(frozen) === wordingOf(last) : totalCents === enteredCents(world, record)
  return isSame ? null : { entry: 'amended', totalCents, currency }
}

export const voidedEntry = (frozen: Frozen, world: InvoiceWorld, record: InvoiceRecord): LaterEntry => ({
  entry: 'voided',
  totalCents: enteredCents(world, record),
  currency: frozen.currency,
  reference: '',
})

/** @param note the credit note */
export const creditedEntry = ({ totalCents, currency, number }: Frozen): LaterEntry => ({
  entry: 'credited',
  totalCents,
  currency,
  reference: number,
})
