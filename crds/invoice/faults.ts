/**
 * The rules that no schema says: the API refuses with them, and the plan stalls with the same codes and words.
 * Pointers are in the names of the spec. Source: rules/invoice.md#refusals.
 */

import { metadataFaults } from '../kernel/metadata.ts'
import type { Fault, ProblemCode } from '../kernel/problem.ts'
import { textPattern } from '../kernel/schema.ts'
import { isDay } from '../values/calendar.ts'
import { DECIMALS_MAX, parseDecimal } from '../values/decimal.ts'
import { displayCents, isCurrency, isWholeAmount, leastCents, notWhole } from '../values/money.ts'
import { oncePerFrozen } from '../values/once.ts'
import { clientFaults, clientLines } from './order/client.ts'
import { totalsFit, totalsOf } from './order/totals.ts'
import type { InvoiceItem, InvoiceSpec } from './schema.ts'

const fault = (code: ProblemCode, pointer: string, detail: string): Fault => ({ code, pointer, detail })

/**
 * Every fault of a spec, what is plainly wrong first, what only forbids sending last. The spec has the shape of the
 * schema; what the schema says is not said again, except where a value may come round it.
 */
export const faultsOf = (spec: InvoiceSpec): Fault[] => oncePerFrozen(spec, found, findFaults)

const found = new WeakMap<InvoiceSpec, Fault[]>()
const findFaults = (spec: InvoiceSpec): Fault[] => {
  const wrong = [...metadataFaults(spec.metadata), ...textFaults(spec), ...valueFaults(spec)]
  return [...wrong, ...(wrong.length === 0 ? amountFaults(spec) : [])]
}

const LINE = new RegExp(textPattern('line'), 'u')
const BLOCK = new RegExp(textPattern('block'), 'u')
const EXTERNAL_REF = /^[A-Za-z0-9._:/-]{1,128}$/

const textFaults = (spec: InvoiceSpec): Fault[] => {
  const lines: [string, string | undefined][] = [
    ['/clientName', spec.clientName],
    ['/clientEmail', spec.clientEmail],
    ['/paid/method', spec.paid?.method],
    ['/paid/reference', spec.paid?.reference],
    ...clientLines(spec),
  ]
  const blocks: [string, string | undefined][] = [
    ['/terms', spec.terms],
    ['/clientAddress', spec.clientAddress],
    ...spec.items.map((item, index): [string, string] => [`/items/${index}/description`, item.description]),
  ]
  const bad =
    (pattern: RegExp) =>
    ([, text]: [string, string | undefined]) =>
      text !== undefined && !pattern.test(text)
  const detail = 'holds control characters or marks that turn the direction of writing'
  return [
    ...lines.filter(bad(LINE)).map(([pointer]) => fault('INVALID_FIELD', pointer, `${detail}, or is not one line`)),
    ...blocks.filter(bad(BLOCK)).map(([pointer]) => fault('INVALID_FIELD', pointer, detail)),
  ]
}

const valueFaults = (spec: InvoiceSpec): Fault[] => {
  const faults = clientFaults(spec)
  if (spec.externalRef !== undefined && !EXTERNAL_REF.test(spec.externalRef)) {
    faults.push(fault('BAD_EXTERNAL_REF', '/externalRef', 'at most 128 characters of A-Z a-z 0-9 . _ : / -'))
  }
  if (!isCurrency(spec.currency)) {
    faults.push(fault('INVALID_FIELD', '/currency', `${JSON.stringify(spec.currency)} is no currency of ISO 4217`))
  }
  if (spec.dueDate !== undefined && !isDay(spec.dueDate)) {
    faults.push(
      fault('INVALID_FIELD', '/dueDate', `${JSON.stringify(spec.dueDate)} is no day of the calendar, YYYY-MM-DD`),
    )
  }
  for (const [index, item] of spec.items.entries()) {
    if (parseDecimal(item.qty) === null) {
      const rule = `a number from 0 to 999999999.999999 with at most ${DECIMALS_MAX} decimals`
      faults.push(fault('INVALID_FIELD', `/items/${index}/qty`, `${JSON.stringify(item.qty)} is not ${rule}`))
    }
  }
  const until = spec.recurrence?.until
  if (until !== undefined && !isDay(until)) {
    faults.push(
      fault('INVALID_FIELD', '/recurrence/until', `${JSON.stringify(until)} is no day of the calendar, YYYY-MM-DD`),
    )
  }
  if (spec.paid !== undefined && !spec.send) {
    faults.push(fault('PAID_REQUIRES_SEND', '/paid', 'paid needs send: true'))
  }
  return faults
}

/** Prices that the currency does not have. @param items of an invoice, or of a credit note */
export const priceFaults = (items: readonly InvoiceItem[], currency: string): Fault[] =>
  items.flatMap(({ unitCents }, index) =>
    isWholeAmount(unitCents, currency)
      ? []
      : [fault('BAD_AMOUNT', `/items/${index}/unitCents`, notWhole(unitCents, currency))],
  )

/** Nothing below what the currency has is asked for, taken off or taken in. */
const wholeFaults = ({ items, discountCents, paid, currency }: InvoiceSpec): Fault[] => {
  const given = paid?.amountCents ?? 0
  return [
    ...priceFaults(items, currency),
    ...(isWholeAmount(discountCents, currency)
      ? []
      : [fault('BAD_AMOUNT', '/discountCents', notWhole(discountCents, currency))]),
    ...(isWholeAmount(given, currency)
      ? []
      : [fault('BAD_PAID_AMOUNT', '/paid/amountCents', notWhole(given, currency))]),
  ]
}

const amountFaults = (spec: InvoiceSpec): Fault[] => {
  const whole = wholeFaults(spec)
  if (whole.length > 0) return whole
  if (!totalsFit(spec)) return [fault('INVALID_FIELD', '/items', 'the amounts are too large to be computed exactly')]
  if (!spec.send) return []
  if (spec.items.length === 0) return [fault('NO_ITEMS', '/items', 'sending needs at least one item')]
  const { totalCents } = totalsOf(spec)
  const total = displayCents(totalCents, spec.currency)
  if (totalCents <= 0) return [fault('ZERO_TOTAL', '/items', `the total is ${total}, sending needs one above zero`)]
  const paidCents = spec.paid?.amountCents
  if (paidCents === undefined || (paidCents >= 1 && paidCents <= totalCents)) return []
  const detail = `${displayCents(paidCents, spec.currency)} is outside ${displayCents(leastCents(spec.currency), spec.currency)} to the total of ${total}`
  return [fault('BAD_PAID_AMOUNT', '/paid/amountCents', detail)]
}
