/** The invoices of an account as a table for a spreadsheet (rules/invoice.md#export). */
import { type Cell, csvLine } from '../../text/csv.ts'

/** The columns, which are fields of the view, with the type each has there. */
export const EXPORT_COLUMNS = {
  number: 'text',
  status: 'text',
  issuer_id: 'text',
  client_name: 'text',
  client_email: 'text',
  currency: 'text',
  subtotal_cents: 'bigint',
  discount_cents: 'bigint',
  tax_cents: 'bigint',
  total_cents: 'bigint',
  paid_cents: 'bigint',
  credited_cents: 'bigint',
  balance_cents: 'bigint',
  sent_at: 'text',
  due_date: 'text',
  paid_at: 'text',
  external_ref: 'text',
} as const

export type ExportColumn = keyof typeof EXPORT_COLUMNS
export type ExportRow = Record<ExportColumn, Cell>

const NAMES = Object.keys(EXPORT_COLUMNS) as ExportColumn[]

export const exportHead = (): string => csvLine(NAMES)
export const exportLine = (row: ExportRow): string => csvLine(NAMES.map((name) => row[name]))
