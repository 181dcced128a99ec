/**
 * What would become of an invoice, without making it: its totals, when its client would be reminded, and what deserves a
 * look. Source: rules/invoice.md#rehearsal.
 */
import { parseDecimal } from '../../values/decimal.ts'
import { modelOf } from '../document/einvoice/model.ts'
import { findingsOf } from '../document/einvoice/write.ts'
import { draftOf } from '../document/freeze.ts'
import { warningsOf } from '../document/warnings.ts'
import { faultsOf } from '../faults.ts'
import { totalsFit, totalsOf } from '../order/totals.ts'
import { stepsAhead } from '../planning/reminders.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { Issuer } from '../world.ts'

export type PreflightTotals = {
  subtotal_cents: number
  discount_cents: number
  tax_groups: { tax_rate_bp: number; base_cents: number; tax_cents: number }[]
  tax_cents: number
  total_cents: number
}

/** Null where some amount cannot be computed exactly. */
export const preflightTotals = (spec: InvoiceSpec): PreflightTotals | null => {
  if (spec.items.some(({ qty }) => parseDecimal(qty) === null) || !totalsFit(spec)) return null
  const { subtotalCents, discountCents, taxGroups, taxCents, totalCents } = totalsOf(spec)
  return {
    subtotal_cents: subtotalCents,
    discount_cents: discountCents,
    tax_groups: taxGroups.map(({ rateBp, baseCents, taxCents: tax_cents }) => ({
      tax_rate_bp: rateBp,
      base_cents: baseCents,
      tax_cents,
    })),
    tax_cents: taxCents,
    total_cents: totalCents,
  }
}

export type PreflightReminder = { step: string; on: string }

/** The days on which the client would be reminded, in the issuer's zone, were it sent now and nothing paid. */
export const preflightReminders = (spec: InvoiceSpec, issuer: Issuer, now: Date): PreflightReminder[] => {
  const { send, test, paid, dueDate, clientEmail, reminders } = spec
  const isPaid = paid !== undefined && paid.amountCents === undefined
  const isSilent = !send || test || isPaid || clientEmail === undefined || reminders?.enabled === false
  return isSilent || dueDate === undefined ? [] : stepsAhead(dueDate, issuer.timeZone, now)
}

/** @param spec without faults when it is to be held against EN 16931 too */
export const preflightWarnings = (spec: InvoiceSpec, issuer: Issuer | null, now: Date): string[] => {
  if (!issuer || spec.items.length === 0 || faultsOf(spec).length > 0) return warningsOf(spec, null, undefined)
  const findings = findingsOf(modelOf({ ...draftOf(spec, issuer, now), number: 'PREFLIGHT' }))
  const rules = findings.map(({ rule, words }) => `No electronic invoice by EN 16931: ${rule}: ${words}`)
  return [...warningsOf(spec, null, undefined), ...rules]
}
