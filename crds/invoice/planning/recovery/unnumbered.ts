/**
 * A document that the ledger holds and that has no number in its register: parts of the database are older than others. What stands
 * on it gives its entry back (rules/invoice.md#behind).
 */
import type { Frozen } from '../../order/frozen.ts'
import { seriesOf } from '../../order/number.ts'
import { payloadOfFrozen } from '../../order/payload.ts'
import { partsOfNumber } from './behind.ts'
import type { RestoredEntry } from './restoration.ts'

/** `frozen` is of its first send. The others are null where no view of the invoice is kept. */
export type UnnumberedDocument = {
  invoice: string
  uid: string | null
  issuerId: string | null
  externalRef: string | null
  /** ISO instant. */
  issuedAt: string
  frozen: Frozen
}

/** `series` is null where the account has none of that prefix, `account` where nobody knows whose it is. */
export type Unnumbered = {
  resource: string
  series: string | null
  account: string | null
  document: UnnumberedDocument
}

const NOBODYS = 'unknown'

const claimedOf = ({ invoice, issuerId, externalRef, frozen }: UnnumberedDocument, account: string) =>
  frozen.kind === 'credit_note'
    ? { invoice, amountCents: frozen.totalCents, currency: frozen.currency }
    : {
        ...payloadOfFrozen(frozen, issuerId ?? NOBODYS),
        account,
        ...(externalRef !== null && { externalRef }),
      }

/** @returns its entry as it is to stand there again, or why a person has to look */
export const regained = ({ resource, series, account, document }: Unnumbered): RestoredEntry | { blocked: string } => {
  const { frozen, issuerId, uid, issuedAt } = document
  const { number, kind, test, totalCents, currency, issuedOn } = frozen
  const parts = partsOfNumber(number)
  if (account === null || parts === null)
    return {
      blocked: `${resource} (${number}): nobody knows whose it is, for no view of it is kept; put back a copy of the whole database, or its rows of mirror`,
    }
  if (series === null && issuerId === null)
    return { blocked: `${resource} (${number}): its series is not there; put back a copy of the whole database` }
  const id = series ?? seriesOf({ account, issuerId: issuerId ?? '', prefix: '', test, kind, issuedOn }).id
  const of = { series: id, account, ...parts, resource, kind, totalCents, currency, issuedAt }
  return { ...of, uid: uid ?? NOBODYS, claimed: claimedOf(document, account) }
}
