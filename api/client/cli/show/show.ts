/** Answers for people: tables of lists, members of one thing, refusals with all that they say. */
import type { ApiRefusal } from '../net/outcome.ts'
import { oneLine, type Terminal, visible } from './terminal.ts'

const CELL_MAX = 60
const VALUE_MAX = 2_000

/** A member, also within others: `release.number`. */
export const memberOf = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined),
      value,
    )

const wordOf = (value: unknown): string => {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Columns as wide as what stands in them. */
export const tableLines = (items: readonly unknown[], columns: readonly string[]): string[] => {
  const head = columns.map((name) => name.replace(/\.(number|state)$/, '').toUpperCase())
  const rows = items.map((item) => columns.map((name) => oneLine(wordOf(memberOf(item, name)), CELL_MAX)))
  const widths = columns.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)))
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return [head, ...rows].map(lineOf)
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null

const itemLines = (item: unknown, indent: string): string[] =>
  isPlain(item) ? [`${indent}- ${oneLine(wordOf(item), VALUE_MAX)}`] : memberLines(item as object, `${indent}  `)

const valueLines = (name: string, value: unknown, indent: string): string[] => {
  if (typeof value === 'string' && value.includes('\n')) {
    return [
      `${indent}${name}:`,
      ...visible(value)
        .trimEnd()
        .split('\n')
        .map((line) => `${indent}  ${line}`),
    ]
  }
  if (isPlain(value)) return [`${indent}${name}: ${oneLine(wordOf(value), VALUE_MAX)}`]
  if (!Array.isArray(value)) return [`${indent}${name}:`, ...memberLines(value as object, `${indent}  `)]
  if (value.length === 0) return [`${indent}${name}: -`]
  return [`${indent}${name}:`, ...value.flatMap((item) => itemLines(item, `${indent}  `))]
}

/** One thing, a member a line, others within indented. */
export const memberLines = (value: object, indent = ''): string[] =>
  Object.entries(value).flatMap(([name, inner]) => valueLines(oneLine(name, 80), inner, indent))

/** Code, what is wrong, each place, and the next step. */
export const refusalLines = (terminal: Pick<Terminal, 'paint'>, refusal: ApiRefusal): string[] => {
  const { code, status, title, detail, next, errors = [], request_id: request } = refusal
  const said = oneLine(detail ?? title ?? '', VALUE_MAX)
  return [
    `${terminal.paint('red', `✗ ${oneLine(code, 80)}`)}${status > 0 ? ` (${status})` : ''}: ${said}`,
    ...errors.flatMap((one) => [
      `  ${terminal.paint('bold', oneLine(one.pointer || '/', 300))}  ${oneLine(one.detail ?? one.code ?? '', VALUE_MAX)}`,
      ...(one.next ? [`    → ${oneLine(one.next, VALUE_MAX)}`] : []),
    ]),
    ...(next ? [`  → ${oneLine(next, VALUE_MAX)}`] : []),
    ...(request ? [terminal.paint('dim', `  request ${oneLine(request, 80)}`)] : []),
  ]
}
