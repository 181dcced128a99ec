/** Comma-separated values by RFC 4180, safe to open in a spreadsheet. */

/** What makes a spreadsheet take a text for a formula (OWASP, CSV injection); an apostrophe before it makes it text. */
const FORMULA = /^[=+\-@\t\r]/
const SPECIAL = /[",\r\n]/

/** Numbers are ours and stay as they are; texts may be anybody's. */
export type Cell = string | number | null

const cellOf = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One record with its line end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\r\n`

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present'
