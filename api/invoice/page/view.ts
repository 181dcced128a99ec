/** What the client's page shows: the document as it was sent, and the money and the state of today out of the view. */

import { textOfCents } from '../../../crds/invoice/money/claim.ts'
import type { DocumentLang } from '../../../crds/invoice/order/frozen.ts'
import { DEFAULT_ZONE } from '../../../crds/invoice/order/issuer.ts'
import { dayIn } from '../../../crds/values/calendar.ts'
import { collectOf } from '../cards/checkout.ts'
import type { PageNeeds } from '../needs.ts'
import type { ClaimFault, Form } from './forms.ts'
import type { FoundInvoice } from './found.ts'
import { invoicePage } from './render.ts'
import type { ShownRevision } from './revision.ts'

/** What was entered and was not right. */
export type Wrong = { fault: ClaimFault; date: string; reference: string; amount: string }

/** The issuer's days are those of the document. */
export const zoneFor = async (
  { issuers }: PageNeeds,
  { row, view }: Pick<FoundInvoice, 'row' | 'view'>,
): Promise<string> => {
  const issuer = await issuers.get({ account: row.account, id: view.issuer_id })
  return issuer?.profile.timeZone ?? DEFAULT_ZONE
}

const formOf = ({ path, view }: FoundInvoice, lang: DocumentLang, today: string, wrong: Wrong | null): Form => {
  const { fault, ...entered } = wrong ?? {
    date: today,
    reference: '',
    amount: textOfCents(view.balance_cents ?? 0, view.currency),
  }
  return { path: `${path}/claim?lang=${lang}`, ...entered, ...(fault && { fault }) }
}

/** An edit that is still to be sent, and can be. */
const revisionIn = ({ view }: FoundInvoice): ShownRevision | null => {
  // a view that was archived before there were revisions has none
  const { changed, totals } = view.pending_revision ?? {}
  return changed && totals ? { changed, totalCents: totals.total_cents } : null
}

/** `wrong`: what the form was sent with, when it is shown once more. `isAway`: no card payment could be begun just now.
 * `hasPaid`: the client comes from the checkout. */
type Shown = { wrong?: Wrong | null; isAway?: boolean; hasPaid?: boolean }

export const pageOf = async (
  deps: PageNeeds,
  found: FoundInvoice,
  lang: DocumentLang,
  { wrong = null, ...paying }: Shown = {},
): Promise<string> => {
  const { frozen, view, path, gate, row } = found
  const zone = await zoneFor(deps, found)
  const dayOf = (instant: string): string => dayIn(new Date(instant), zone)
  return invoicePage({
    frozen,
    lang,
    status: view.status,
    paidCents: view.paid_cents,
    creditedCents: view.credited_cents,
    balanceCents: view.balance_cents ?? 0,
    paidOn: view.paid_at && dayOf(view.paid_at),
    voidedOn: view.voided_at && dayOf(view.voided_at),
    payments: view.payments.map(({ received_at, method, amount_cents }) => ({
      on: dayOf(received_at),
      method,
      amountCents: amount_cents,
    })),
    creditNotes: view.credit_notes.flatMap(({ number, amount_cents, created_at }) => {
      if (number === null) return []
      const note = `${path}/credit-notes/${encodeURIComponent(number)}`
      return [{ number, on: dayOf(created_at), amountCents: amount_cents, path: note }]
    }),
    // a view that was archived before there were claims has none
    claims: (view.claims ?? []).map(({ paid_on, reference, amount_cents }) => ({
      paidOn: paid_on,
      reference,
      amountCents: amount_cents,
    })),
    // nothing can be decided on where the resource is gone
    ...(!row.archived && { claimForm: formOf(found, lang, dayOf(deps.now().toISOString()), wrong) }),
    path,
    url: `${deps.publicUrl}${path}`,
    collect: collectOf(deps, found, lang, paying),
    revision: revisionIn(found),
    hasLogo: Boolean(frozen.seller.logo),
    beacon: gate === 'account',
  })
}
