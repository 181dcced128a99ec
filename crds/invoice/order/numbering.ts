/** The register as REST shows it and as it leaves for an offline check (rules/invoice.md#register). */
import { formatNumber, TEST_PREFIX } from './number.ts'

/**
 * What an entry says. The first three stand for a number of their own (given; given back after an older copy of the database;
 * set aside, because somebody may have it), the others for what became of one later.
 */
export const ENTRY_WORDS = ['issued', 'restored', 'lost', 'amended', 'voided', 'credited'] as const
export type EntryWord = (typeof ENTRY_WORDS)[number]

/** A register as it is stored; `prefix` is followed by the sequence, hashes are hex; `later` entries stand for no number. */
export type StoredSeries = { id: string; prefix: string; first: number; last: number; later: number; headHash: string }

export type SeriesView = {
  /** What `?series=` takes. */
  id: string
  /** Null of the test registers, which all issuers share. */
  issuer_id: string | null
  prefix: string
  year: number
  test: boolean
  kind: 'invoice' | 'credit_note'
  /** How many numbers were given. */
  count: number
  /** How many entries there are, with those that tell what became of a number. */
  entries: number
  /** Place of the first and of the last number; 0 as long as there is none. */
  first: number
  last: number
  last_number: string | null
  head_hash: string
  verified: boolean
}

const numbersOf = ({ first, last }: StoredSeries): number => Math.max(0, last - first + 1)
export const entriesOf = (series: StoredSeries): number => numbersOf(series) + series.later

/** `<account>/<issuer or TEST>/<kind>/<year>` (number.ts). */
export const viewSeries = (series: StoredSeries, verified: boolean): SeriesView => {
  const { id, prefix, first, last, headHash } = series
  const [, issuer = '', kind, year] = id.split('/')
  const test = issuer === TEST_PREFIX
  const count = numbersOf(series)
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
    entries: entriesOf(series),
    first: isEmpty ? 0 : first,
    last: isEmpty ? 0 : last,
    last_number: isEmpty ? null : formatNumber(name, Number(year), last),
    head_hash: headHash,
    verified,
  }
}

/** `step` is 0 of an entry that stands for a number; the others follow the newest number of their time at 1, 2, …. */
export type StoredEntry = {
  seq: number
  step: number
  entry: EntryWord
  number: string
  resource: string
  kind: 'invoice' | 'credit_note'
  totalCents: number
  currency: string
  issuedAt: string
  reference: string
  prevHash: string
  hash: string
}

/** `resource` is what is hashed: the invoice, or `<invoice>/<credit note>`. */
export const viewEntry = (entry: StoredEntry) => ({
  seq: entry.seq,
  step: entry.step,
  entry: entry.entry,
  number: entry.number,
  invoice_id: entry.resource.split('/')[0] ?? '',
  resource: entry.resource,
  kind: entry.kind,
  total_cents: entry.totalCents,
  currency: entry.currency,
  issued_at: entry.issuedAt,
  reference: entry.reference,
  hash: entry.hash,
  prev_hash: entry.prevHash,
})

const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`

/** The lines that api/client/verify-register.mjs reads: what a register states of itself, then its entries. */
export const seriesLine = (series: StoredSeries): string => {
  const { id, first, last, headHash } = series
  return jsonLine({ type: 'series', series: id, first, last, count: entriesOf(series), head_hash: headHash })
}
export const entryLine = (series: string, entry: StoredEntry): string => {
  const { invoice_id: _, ...shown } = viewEntry(entry)
  return jsonLine({ type: 'entry', series, ...shown })
}
