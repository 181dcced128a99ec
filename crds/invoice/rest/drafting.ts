/**
 * What a language model may propose for an invoice, and how its proposal is judged: by the invoice's own schema and rules,
 * like anybody's input. A draft holds what is on the document and nothing that acts: no send, no test, no paid, no issuer,
 * no reference, no metadata (rules/invoice.md#drafts-by-a-model).
 */
import { named } from '../../kernel/named.ts'
import type { Fault } from '../../kernel/problem.ts'
import { type JsonSchema, restPointer, restSchema, toSpec } from '../../kernel/rest.ts'
import { orNull, strictSchema, withoutNulls } from '../../kernel/strict.ts'
import { faultsOf } from '../faults.ts'
import { INVOICE } from '../kind.ts'
import { type InvoiceSpec, spec } from '../schema.ts'

/** What the money depends on. A proposal that is wrong here is refused as a whole: half an amount is a wrong amount. */
const MONEY_FIELDS = ['items', 'currency', 'tax_rate_bp', 'discount_cents'] as const
/** What a person sees and puts right: a wrong one is left out, and said to be. */
const WORD_FIELDS = ['client_name', 'client_email', 'due_date', 'terms', 'lang'] as const
const DRAFT_FIELDS: readonly string[] = [...WORD_FIELDS, ...MONEY_FIELDS]

export const REPLY_MAX_CHARS = 8_000
/** Strange fields that are named in warnings; the rest would only repeat. */
const STRANGERS_MAX = 5
const NAME_SHOWN_CHARS = 60

const asked = restSchema(spec).properties as Record<string, JsonSchema>

/** The part of the create payload that a draft may hold. Closed. */
export const draftSchema: JsonSchema = named('InvoiceDraft', {
  type: 'object',
  description: 'What an invoice could hold. Nothing is stored: send it to POST /api/invoices.',
  additionalProperties: false,
  properties: Object.fromEntries(DRAFT_FIELDS.map((name) => [name, asked[name]])),
})

const replySchema: JsonSchema = {
  type: 'string',
  description: 'What to say to the user, in plain text.',
  minLength: 1,
  maxLength: REPLY_MAX_CHARS,
}

/** What the model is to answer with: `draft` alone, or with a reply beside it (then the draft may be null). */
export const proposalSchema = strictSchema({ ...draftSchema, description: 'The draft of an invoice.' })
export const chatSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['reply', 'draft'],
  properties: { reply: strictSchema(replySchema), draft: orNull(proposalSchema) },
}

/** In the names of REST, as POST /api/invoices takes it. */
export type InvoiceDraft = Record<string, unknown>

/** `faults`: not to be passed on. Else the draft, and what deserves a look before it is used. */
export type JudgedDraft = { draft: InvoiceDraft; warnings: Fault[] } | { faults: Fault[] }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldOf = ({ pointer }: Fault): string => pointer.split('/')[1] ?? ''
const isWord = (fault: Fault): boolean => WORD_FIELDS.some((name) => name === fieldOf(fault))

const withoutFields = (draft: InvoiceDraft, fields: readonly string[]): InvoiceDraft =>
  Object.fromEntries(Object.entries(draft).filter(([name]) => !fields.includes(name)))

const leftOut = (fault: Fault): Fault => ({ ...fault, detail: `${fault.detail} Left out of the draft.` })

/** Fields of a proposal that no draft has: whoever asked for them gets none of it. */
const strangersOf = (proposal: InvoiceDraft): Fault[] =>
  Object.keys(proposal)
    .filter((name) => !DRAFT_FIELDS.includes(name))
    .slice(0, STRANGERS_MAX)
    .map((name) => {
      const shown = name.replace(/[^\w-]/g, '?').slice(0, NAME_SHOWN_CHARS)
      const detail = `The model answered ${shown}, which no draft has. Left out of the draft.`
      return { code: 'UNKNOWN_FIELD', pointer: `/${shown}`, detail }
    })

const gap = (pointer: string, detail: string): Fault => ({ code: 'INVALID_FIELD', pointer, detail })

/** What is still missing before the draft could be sent. */
const gapsOf = (asSpec: InvoiceSpec): Fault[] => [
  ...(asSpec.clientEmail === undefined ? [gap('/client_email', 'There is no address to send the invoice to.')] : []),
  ...(asSpec.dueDate === undefined ? [gap('/due_date', 'There is no due date, so nobody is reminded.')] : []),
  ...faultsOf({ ...asSpec, send: true }).map((one) => ({ ...one, pointer: restPointer(one.pointer) })),
]

const specOf = (draft: InvoiceDraft): InvoiceSpec => toSpec<InvoiceSpec>(INVOICE, draft, { account: '' })

/**
 * Judges what a model proposed.
 * @param proposal any JSON value  @param given fields that the caller fixed; they win over the model's
 * @param shape the findings of `draftSchema` over a value
 */
export const judgeDraft = (proposal: unknown, given: InvoiceDraft, shape: (value: unknown) => Fault[]): JudgedDraft => {
  const said = withoutNulls(proposal)
  if (!isRecord(said)) return { faults: [gap('', 'The draft is no object.')] }
  const known = Object.entries(said).filter(([name, value]) => DRAFT_FIELDS.includes(name) && value !== '')
  const draft: InvoiceDraft = { ...Object.fromEntries(known), ...given }
  const wrong = shape(draft)
  if (!wrong.every(isWord)) return { faults: wrong }
  const sound = withoutFields(draft, wrong.map(fieldOf))
  const broken = faultsOf(specOf(sound)).map((one) => ({ ...one, pointer: restPointer(one.pointer) }))
  if (!broken.every(isWord)) return { faults: broken }
  const kept = withoutFields(sound, broken.map(fieldOf))
  return {
    draft: kept,
    warnings: [...strangersOf(said), ...[...wrong, ...broken].map(leftOut), ...gapsOf(specOf(kept))],
  }
}
