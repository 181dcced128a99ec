/** The register as REST shows it and as it leaves for an offline check (rules/invoice.md#register). */
import { formatNumber, TEST_PREFIX } from './number.ts'

/** A register as it is stored; `prefix` is followed by the sequence, hashes are hex. */
export type StoredSeries = { id: string; prefix: string; first: number; last: number; headHash: string }

export type SeriesView = {
  /** What `?series=` takes. */
  id: string
  /** Null of the test registers, which all issuers share. */
  issuer_id: string | null
  prefix: string
  year: number
  test: boolean
  kind: 'invoice' | 'credit_note'
  count: number
  /** Place of the first and of the last number; 0 as long as there is none. */
  first: number
  last: number
  last_number: string | null
  head_hash: string
  verified: boolean
}

/** `<account>/<issuer or TEST>/<kind>/<year>` (number.ts). */
export const viewSeries = ({ id, prefix, first, last, headHash }: StoredSeries, verified: boolean): SeriesView => {
  const [, issuer = '', kind, year] = id.split('/')
  const test = issuer === TEST_PREFIX
  const count = Math.max(0, last - first + 1)
  const isEmpty = count === 0
  // without the year and its lines: INV-026- is INV
  const name = prefix.replace(/-\d{3}-$/, '')
  return {
    id,
    issuer_id: test ? null : issuer,
    prefix: name,
    year: Number(year),
    test,
    kind: kind === 'credit_note' ? 'credit_note' : 'invoice',
    count,
    first: isEmpty ? 0 : first,
    last: isEmpty ? 0 : last,
    last_number: isEmpty ? null : formatNumber(name, Number(year), last),
    head_hash: headHash,
    verified,
  }
}

export type StoredEntry = {
  seq: number
  number: string
  resource: string
  kind: 'invoice' | 'credit_note'
  totalCents: number
  currency: string
  issuedAt: string
  prevHash: string
  hash: string
}

/** `resource` is what is hashed: the invoice, or `<invoice>/<credit note>`. */
export const viewEntry = (entry: StoredEntry) => ({
  seq: entry.seq,
  number: entry.number,
  invoice_id: entry.resource.split('/')[0] ?? '',
  resource: entry.resource,
  kind: entry.kind,
  total_cents: entry.totalCents,
  currency: entry.currency,
  issued_at: entry.issuedAt,
  hash: entry.hash,
  prev_hash: entry.prevHash,
})

const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`

/** The lines that api/client/verify-register.mjs reads: what a register states of itself, then its entries. */
export const seriesLine = ({ id, first, last, headHash }: StoredSeries): string =>
  jsonLine({ type: 'series', series: id, first, last, count: Math.max(0, last - first + 1), head_hash: headHash })
export const entryLine = (series: string, entry: StoredEntry): string => {
  const { invoice_id: _, ...shown } = viewEntry(entry)
  return jsonLine({ type: 'entry', series, ...shown })
}
