/**
 * What an electronic invoice is made of: the frozen document, and no more of it than is needed. A `Frozen` of
 * crds/invoice fits as it is; what an older one does not have yet is optional here. Amounts are integers, hundredths of
 * the currency's unit; '' and absent both mean not given.
 */
import type { DocumentLang, ZeroRate } from '../../order/frozen.ts'

/** `address` holds lines divided by newlines; `country` is a code of ISO 3166-1. */
type Whereabouts = { city?: string; postcode?: string; country?: string }

export type SourceItem = { description: string; qty: string; unitCents: number; taxRateBp: number; amountCents: number }

export type Source = {
  kind: 'invoice' | 'credit_note'
  number: string
  test: boolean
  /** YYYY-MM-DD, as every day here. */
  issuedOn: string
  dueDate: string | null
  lang: DocumentLang
  currency: string
  seller: { legalName: string; taxId: string; address: string; email: string; iban?: string } & Whereabouts
  client: { name: string; email: string; address?: string; taxId?: string } & Whereabouts
  /** `qty` is a decimal; `amountCents` is qty × unit, rounded half-up, before discount and tax. */
  items: readonly SourceItem[]
  subtotalCents: number
  discountCents: number
  /** One for each rate: its base after its share of the discount, and the tax on it. */
  taxGroups: readonly { rateBp: number; baseCents: number; taxCents: number }[]
  taxCents: number
  totalCents: number
  paid: { amountCents: number } | null
  /** What credit notes took off; only where there were any. */
  creditedCents?: number
  terms: string
  /** Of all lines at 0 %. */
  zeroRate?: ZeroRate | null
  /** The invoice that a credit note credits, and why; '' where no reason was given. */
  credits?: { number: string; issuedOn: string; reason: string }
}
