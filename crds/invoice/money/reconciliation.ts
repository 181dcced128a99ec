/**
 * What a month came to, by currency and issuer: what was issued, what came in and by which way, what was given back, and
 * what is outstanding now. Source: rules/invoice.md#reconciliation.
 */
import { csvLine } from '../../text/csv.ts'

/** A month from its first instant to the first of the next, in one zone. Instants are ISO. */
export type Span = { from: string; until: string }

/** Without the year 0, which PostgreSQL does not have. */
export const MONTH_PATTERN = '^(?!0000)\\d{4}-(0[1-9]|1[0-2])$'

/** @param month YYYY-MM  @param timeZone of the IANA list */
export const monthSpan = (month: string, timeZone: string): Span => {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  const at = (day: Temporal.PlainDate) => new Date(day.toZonedDateTime(timeZone).epochMilliseconds).toISOString()
  return { from: at(first), until: at(first.add({ months: 1 })) }
}

/**
 * One currency of one issuer; test invoices are left out. All amounts are hundredths of the currency unit.
 * - issued: totals of the invoices numbered in the month, receipts and those voided since among them, with what sends of the
 *   month changed of any; amended is that part of it, and may be below 0
 * - voided: totals of the invoices voided in the month
 * - paid: money that came in during the month, on voided invoices too; received_on_voided is what came in on an invoice that
 *   was voided, in the month in which both had happened
 * - credited: credit notes of the month; refunded is the part of them that went back through the card processor
 * Those are entries of the register and facts by their own dates: a month that is over changes no more.
 * - outstanding: what is left to pay now, of whatever month; overdue is the part of it whose due date has passed
 */
export type RollupRow = {
  currency: string
  issuer_id: string
  issued_count: number
  issued_cents: number
  voided_cents: number
  paid_gateway_cents: number
  paid_manual_cents: number
  received_on_voided_cents: number
  credited_cents: number
  refunded_cents: number
  outstanding_cents: number
  overdue_cents: number
  amended_cents: number
}

export type RollupColumn = keyof RollupRow

/** What each column is, for people and for the OpenAPI document. */
export const ROLLUP_WORDS: Readonly<Record<RollupColumn, string>> = {
  currency: 'Currency of the amounts.',
  issuer_id: 'The issuer.',
  issued_count: 'How many invoices were numbered in the month.',
  issued_cents: 'What they came to, those voided since among them, with what was amended in the month.',
  voided_cents: 'Totals of the invoices voided in the month.',
  paid_gateway_cents: 'Came in through the card processor in the month.',
  paid_manual_cents: 'Came in otherwise in the month, as the caller attests.',
  received_on_voided_cents: 'Came in on invoices that were voided, in the month in which both had happened.',
  credited_cents: 'Credit notes of the month.',
  refunded_cents: 'The part of them that went back through the card processor.',
  outstanding_cents: 'What is left to pay now, of whatever month.',
  overdue_cents: 'The part of it whose due date has passed.',
  amended_cents:
    'The part of what was issued by which sends of the month changed invoices sent before; may be below 0.',
}
const COLUMNS = Object.keys(ROLLUP_WORDS) as RollupColumn[]

/** The rollup as a table, the month before each row. */
export const rollupCsv = (month: string, rows: readonly RollupRow[]): string =>
  [csvLine(['month', ...COLUMNS]), ...rows.map((row) => csvLine([month, ...COLUMNS.map((name) => row[name])]))].join('')
