/**
 * A finished invoice leaves the cluster after a retention and is served from its archived view; what needs it again brings
 * the resource back from that view (rules/platform.md#resources-are-scarce). What is on record stays in the ledger:
 * the returned resource is adopted by it, with its number and without a mail (returned.ts).
 */

import { toPatch, toSnake } from '../../kernel/rest.ts'
import { isObject, type Schema, withDefaults } from '../../kernel/schema.ts'
import { endedLinks } from '../../values/links.ts'
import { RECEIPT } from '../document/freeze.ts'
import { FIRST_LINKS } from '../facts/versions.ts'
import { DEFAULT_ISSUER, type InvoiceSpec, spec as specSchema } from '../schema.ts'
import type { InvoiceView } from '../view.ts'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Of a view in REST names only what the schema knows; null is what was never given. */
const known = (schema: Schema, value: unknown): unknown => {
  if (schema.type === 'array' && Array.isArray(value)) return value.map((item) => known(schema.items, item))
  if (!isObject(schema) || !isRecord(value)) return value
  const fields = Object.entries(schema.properties).flatMap(([name, child]) => {
    const shown = value[toSnake(name)]
    return shown === null || shown === undefined ? [] : [[toSnake(name), known(child, shown)]]
  })
  return Object.fromEntries(fields)
}

/** Receipt mode as it was asked for: the payment that it recorded. All of the total is said by leaving the amount out. */
const paidOf = ({ payments, total_cents }: InvoiceView): Pick<InvoiceSpec, 'paid'> => {
  const receipt = payments.find(({ id }) => id === RECEIPT)
  if (!receipt) return {}
  const { method, reference, amount_cents: amountCents } = receipt
  return { paid: { method, reference, ...(amountCents !== total_cents && { amountCents }) } }
}

/** The view names what a spec may leave open: the default issuer, and metadata that nobody gave. */
const openOf = ({ issuerId, metadata = {}, ...rest }: Record<string, unknown>): Record<string, unknown> => ({
  ...rest,
  ...(issuerId !== DEFAULT_ISSUER && { issuerId }),
  ...(Object.keys(metadata as object).length > 0 && { metadata }),
})

/** Fields whose view is more than what the spec desires. */
const SHOWN_OTHERWISE = { reminders: null, collect: null, recurrence: null, link_versions: null }

/** What is switched on unless somebody says otherwise, what is repeated, and what was ended; of before, a view says nothing of links. */
const desiredOf = ({ reminders, collect, recurrence, link_versions }: InvoiceView): Partial<InvoiceSpec> => {
  const { every = null, day = null, mode = null, until = null, paused, of = null, period = null } = recurrence ?? {}
  const linkVersions = endedLinks(link_versions ?? FIRST_LINKS)
  return {
    ...(linkVersions && { linkVersions }),
    ...(!reminders.enabled && { reminders: { enabled: false } }),
    ...(collect.reason === 'INVOICE_OFF' && { collect: { enabled: false } }),
    ...(every !== null &&
      day !== null &&
      mode !== null && { recurrence: { every, day, mode, ...(until !== null && { until }), paused: paused === true } }),
    ...(of !== null && period !== null && { recurrenceOf: { invoice: of, period, held: false } }),
  }
}

/** The spec that a numbered invoice was shown with. Only numbered ones come back, so `send` is true. */
export const specOfView = (account: string, view: InvoiceView): InvoiceSpec =>
  withDefaults(specSchema, {
    ...openOf(toPatch({ spec: specSchema }, known(specSchema, { ...view, ...SHOWN_OTHERWISE }))),
    ...desiredOf(view),
    account,
    send: true,
    void: view.status === 'voided',
    ...paidOf(view),
  })
