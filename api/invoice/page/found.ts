/** What a page of an invoice is made from. */

import type { FactRow } from '../../../controllers/store/ledger/facts.ts'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import type { Snapshot } from '../../../crds/invoice/facts/ledger.ts'
import type { InvoiceLinks } from '../../../crds/invoice/facts/versions.ts'
import { dueCents } from '../../../crds/invoice/money/books.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceView } from '../../../crds/invoice/view.ts'

/** What stands behind one link: the invoice as it is now, and the document as it was last sent. */
export type FoundInvoice = {
  name: string
  row: MirrorRow<ShownInvoice>
  /** Beside `frozen`. */
  view: InvoiceView
  gate: 'account' | 'password'
  n: number
  /** Of the PDF that shows it as it stands. */
  sha256: string
  frozen: Frozen
  /** Which are good; by one of them it was found. */
  links: InvoiceLinks
  facts: FactRow[]
  snapshots: Snapshot[]
  /** Path of the page on this host. */
  path: string
}

/**
 * The view beside the newest send: that is on record, and mailed, a moment before the view of it is made. What both show together
 * is one sum, and what was edited is not still to be sent (rules/invoice.md#the-same-cents).
 */
export const viewBeside = (view: InvoiceView, { frozen, n }: Pick<FoundInvoice, 'frozen' | 'n'>): InvoiceView => {
  // an archived view may be of before sends were counted
  if ((view.send_count ?? 0) >= n) return view
  const { paid_cents: paidCents, credited_cents: creditedCents, status } = view
  const due = dueCents({ totalCents: frozen.totalCents, paidCents, creditedCents })
  return { ...view, balance_cents: status === 'voided' ? 0 : due, pending_revision: null }
}
