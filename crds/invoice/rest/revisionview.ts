/** A pending revision as REST shows it, and as a condition of the resource says it. */
import type { OwnCondition } from '../../kernel/plan.ts'
import { type JsonSchema, toCamel } from '../../kernel/rest.ts'
import { displayCents } from '../../values/money.ts'
import { type FieldChange, revisionOf } from '../order/revision.ts'
import { sentOf } from '../order/sent.ts'
import type { InvoiceSpec } from '../schema.ts'
import type { InvoiceWorld } from '../world.ts'

/** `totals` and `preview_url` are null while the edit breaks a rule and cannot be sent. */
export type RevisionView = {
  changed: FieldChange[]
  totals: { subtotal_cents: number; discount_cents: number; tax_cents: number; total_cents: number } | null
  preview_url: string | null
}

export const viewRevision = (name: string, spec: InvoiceSpec, world: InvoiceWorld | null): RevisionView | null => {
  const revision = world && revisionOf(spec, world)
  if (!revision) return null
  const { changed, totals } = revision
  return {
    changed,
    totals: totals && {
      subtotal_cents: totals.subtotalCents,
      discount_cents: totals.discountCents,
      tax_cents: totals.taxCents,
      total_cents: totals.totalCents,
    },
    preview_url: totals && `${world.publicUrl}/api/invoices/${name}/revision`,
  }
}

/** `kubectl describe` shows it; there is none while nothing is pending. */
export const revisionConditions = (spec: InvoiceSpec, world: InvoiceWorld): OwnCondition[] => {
  const revision = revisionOf(spec, world)
  const sent = sentOf(world)
  if (!revision || !sent) return []
  const { changed, totals } = revision
  const money = (cents: number): string => displayCents(cents, sent.currency)
  const pointers = changed.map(({ pointer }) => pointer.split('/').map(toCamel).join('/')).join(', ')
  const amount =
    totals === null
      ? 'which cannot be sent as it is'
      : totals.totalCents === sent.totalCents
        ? `at the same ${money(sent.totalCents)}`
        : `${money(sent.totalCents)} to ${money(totals.totalCents)}`
  const message = `edited since it was sent (${pointers}), ${amount}; what was sent counts until it is sent again`
  return [{ type: 'PendingRevision', status: 'True', reason: 'Edited', message }]
}

const any = (description: string): JsonSchema => ({ description })

/** The JSON schema of `RevisionView`. */
export const revisionAnswer = (
  object: (description: string, properties: Record<string, JsonSchema>) => JsonSchema,
  cents: (description: string) => JsonSchema,
): JsonSchema => {
  const change = object('One field.', {
    pointer: { type: 'string', description: 'JSON pointer into the invoice; /items/N is a whole line.' },
    from: any('As it was sent; null where it was not given.'),
    to: any('As it would be sent.'),
  })
  const totals = object('What it would come to; null while the edit breaks a rule.', {
    subtotal_cents: cents('The lines together.'),
    discount_cents: cents('The discount.'),
    tax_cents: cents('The tax.'),
    total_cents: cents('Lines minus discount plus tax.'),
  })
  return {
    ...object('What was edited since it was sent, and takes effect with the next send; null when nothing was.', {
      changed: { type: 'array', description: 'In what the next document would differ.', items: change },
      totals: { ...totals, type: ['object', 'null'] },
      preview_url: {
        type: ['string', 'null'],
        description: 'Shows the revised document to its owner: a page to a browser, a PDF to others.',
      },
    }),
    type: ['object', 'null'],
  }
}
