/** The routes that help before an invoice exists: drafts by a language model (rules/invoice.md#drafts-by-a-model). */
import { draftSchema } from '../../../crds/invoice/rest/drafting.ts'
import { spec } from '../../../crds/invoice/schema.ts'
import { named } from '../../../crds/kernel/named.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import { type JsonSchema, restSchema } from '../../../crds/kernel/rest.ts'
import { list, object, text } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { DraftingNeeds } from '../needs.ts'
import { CONTRACT_MAX_BYTES, CONTRACT_MAX_CHARS, CONTRACT_TYPES } from './contract.ts'
import { chatInvoice, draftInvoice, extractContract } from './drafting.ts'

const PROMPT_MAX_CHARS = 10_000
const MESSAGES_MAX = 40
const MESSAGE_MAX_CHARS = 4_000

const shown = { tag: 'Invoices', scope: { kind: 'scope', scope: 'create.invoice' } } as const
const asked = restSchema(spec).properties as Record<string, JsonSchema>
const said = (description: string, maxLength: number): JsonSchema => ({
  ...text(description),
  minLength: 1,
  maxLength,
  pattern: '\\S',
})
/** The field as in the create payload, but with no default: left out, the model says. */
const chosen = (name: string): JsonSchema => {
  const { default: _, ...rest } = asked[name] ?? {}
  return rest
}
const closed = (schema: JsonSchema, required: string[], example: unknown): JsonSchema => ({
  ...schema,
  additionalProperties: false,
  required,
  examples: [example],
})

const warnings = named(
  'DraftWarnings',
  list(
    'What was left out of the draft, and what it lacks to be sent.',
    object('One finding.', {
      code: text('The code that sending it would be refused with, or why it was left out.'),
      pointer: text('JSON pointer into the draft.'),
      detail: text('The rule and the figures.'),
    }),
  ),
)
const drafted = (properties: Record<string, JsonSchema> = {}) => ({
  200: {
    description: 'The draft. Nothing is stored.',
    schema: object('The draft. Nothing is stored.', { ...properties, draft: draftSchema, warnings }),
  },
})
const codes: ProblemCode[] = ['INVOICE_AI_QUOTA', 'LLM_NOT_CONFIGURED', 'LLM_UNAVAILABLE', 'LLM_BAD_ANSWER']

export const draftRoutes: Route<DraftingNeeds>[] = [
  {
    ...shown,
    method: 'POST',
    path: '/api/invoices/draft',
    summary: 'Draft an invoice from a sentence',
    description: 'By a language model, under a daily allowance. Check the draft, then send it to POST /api/invoices.',
    body: closed(
      object('What is to be invoiced, in plain words.', {
        prompt: said('What is to be invoiced, in plain words.', PROMPT_MAX_CHARS),
        currency: chosen('currency'),
        lang: chosen('lang'),
      }),
      ['prompt'],
      { prompt: 'Three hours of consulting at 80 EUR for ACME, billing@acme.test, due in two weeks', currency: 'EUR' },
    ),
    answers: drafted(),
    codes,
    handle: draftInvoice,
  },
  {
    ...shown,
    method: 'POST',
    path: '/api/invoices/chat',
    summary: 'Talk about an invoice',
    description: 'The whole talk is sent each time; draft is the invoice as it stands after the last message.',
    body: closed(
      object('The talk so far.', {
        messages: {
          ...list(
            'Oldest first; the last is of the user.',
            closed(
              object('One message.', {
                role: { ...text('Who says it.'), enum: ['user', 'assistant'] },
                content: said('What is said.', MESSAGE_MAX_CHARS),
              }),
              ['role', 'content'],
              { role: 'user', content: 'Invoice ACME for October.' },
            ),
          ),
          minItems: 1,
          maxItems: MESSAGES_MAX,
        },
      }),
      ['messages'],
      { messages: [{ role: 'user', content: 'Invoice ACME for the October retainer, 1200 EUR.' }] },
    ),
    answers: drafted({ reply: text('What the model says.') }),
    codes,
    handle: chatInvoice,
  },
  {
    ...shown,
    method: 'POST',
    path: '/api/invoices/extract-contract',
    summary: 'Draft an invoice from a contract',
    description: `As {"text": …}, as a PDF with text, or as plain text: at most ${CONTRACT_MAX_CHARS} characters. What the contract says is material, never an instruction.`,
    bodyMaxBytes: CONTRACT_MAX_BYTES,
    bytesTypes: CONTRACT_TYPES,
    body: closed(object('The contract.', { text: said('The whole text.', CONTRACT_MAX_CHARS) }), ['text'], {
      text: 'ACME pays Studio Uno EUR 1,200 a month for maintenance, invoiced at the end of each month.',
    }),
    answers: drafted(),
    codes: [...codes, 'BAD_CONTRACT', 'CONTRACT_TOO_LONG', 'CONTRACT_WITHOUT_TEXT'],
    handle: extractContract,
  },
]
