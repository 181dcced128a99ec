/**
 * What stands on an issued document, once and for all: from it alone the PDF, the client page and the mail are made,
 * today and in ten years, with the same cents and, for the PDF, the same bytes. JSON-serialisable only.
 * Source: rules/invoice.md#frozen-documents.
 */

/** Languages of a document. */
export const LANGS = ['en', 'es', 'zh-Hant', 'zh-Hans'] as const
export type DocumentLang = (typeof LANGS)[number]

/** A logo by the sha256 of its bytes, which are a PNG or JPEG on white; its size in pixels. */
export type FrozenLogo = { sha256: string; width: number; height: number }

/**
 * The seller as it was when the document was issued. `address` holds lines divided by newlines; '' means not given.
 * What documents of the first version did not freeze is absent there.
 */
export type Seller = {
  legalName: string
  taxId: string
  address: string
  city?: string
  postcode?: string
  /** ISO 3166-1, two letters. */
  country?: string
  email: string
  iban?: string
  footer: string
  logo?: FrozenLogo | null
}

/** The recipient; '' means not given, and what documents of the first version did not freeze is absent there. */
export type Client = {
  name: string
  email: string
  address?: string
  city?: string
  postcode?: string
  /** ISO 3166-1, two letters. */
  country?: string
  taxId?: string
}

/**
 * Why nothing is charged on the lines at 0 %: Z zero-rated, E exempt, O outside the scope of VAT, AE reverse charge
 * (UNTDID 5305). `reason` is the ground, as the law calls it.
 */
export type ZeroRate = { category: 'Z' | 'E' | 'O' | 'AE'; reason: string }

/** `qty` is a decimal string with at most six decimals; `amountCents` is qty × unit, rounded half-up, before tax. */
export type FrozenItem = {
  description: string
  qty: string
  unitCents: number
  taxRateBp: number
  amountCents: number
}

/** The base of one tax rate after its share of the discount, and the tax on it. Rates in basis points. */
export type TaxGroup = { rateBp: number; baseCents: number; taxCents: number }

/** Money that was received when the document was frozen. `on` is YYYY-MM-DD in the issuer's zone. */
export type FrozenPaid = { amountCents: number; method: string; reference: string; on: string }

/**
 * Whether the electronic invoice by EN 16931 is inside the PDF; if not, why, and what its rules ask for: `pointer` in the
 * names of the spec, `/issuer/…` of its issuer.
 */
export type Enclosure =
  | { profile: 'EN 16931' }
  | { profile: null; reason: string; findings: { rule: string; pointer: string; words: string }[] }

/** All amounts are integers, hundredths of the currency's unit. Dates are YYYY-MM-DD in the issuer's zone. */
export type Frozen = {
  number: string
  kind: 'invoice' | 'credit_note'
  test: boolean
  issuedOn: string
  dueDate: string | null
  lang: DocumentLang
  currency: string
  seller: Seller
  client: Client
  items: FrozenItem[]
  subtotalCents: number
  discountCents: number
  taxGroups: TaxGroup[]
  taxCents: number
  totalCents: number
  paid: FrozenPaid | null
  terms: string
  zeroRate?: ZeroRate | null
  /** What its credit notes took off by then; only where there were any. */
  creditedCents?: number
  /** The day on which it was voided, YYYY-MM-DD in the issuer's zone; only where it was. */
  voidedOn?: string
  /** The invoice that a credit note credits, and why; '' where no reason was given. */
  credits?: { number: string; issuedOn: string; reason: string }
  /** Decided once, so that the same record is drawn with it, or without, for ever. Absent in documents of the first version. */
  einvoice?: Enclosure
}

/** A draft looks the same but has no number yet; `issuedOn` is the day it is looked at. */
export type FrozenDraft = Omit<Frozen, 'number'> & {
  number: null
  /** The number of what was sent, of which it is an edit that was not. */
  revises?: string
}
