/** The routes of an account's books, and of the rehearsal of an invoice, as data (rules/invoice.md#over-rest). */
import { MONTH_PATTERN, ROLLUP_WORDS } from '../../../crds/invoice/money/reconciliation.ts'
import { ENTRY_WORDS } from '../../../crds/invoice/order/numbering.ts'
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import type { Scope } from '../../auth/scopes.ts'
import { pageQuery, paging } from '../../openapi/paging.ts'
import { flag, list, object, text, textOrNull, whole, withExamples } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { BooksNeeds } from '../needs.ts'
import { listFilters } from '../read.ts'
import { explainInvoice, exportInvoices, exportRegister, getNumbering, getReconciliation } from './books.ts'
import { preflight, preflightBody } from './preflight.ts'

const scope = (name: Scope) => ({ kind: 'scope' as const, scope: name })
const reads = { tag: 'Books', scope: scope('invoices:read') } as const
const word = (description: string, words: readonly string[]): JsonSchema => ({
  type: 'string',
  description,
  enum: [...words],
})
/** For what is null when there is none. */
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'] })

const isText = (name: string): boolean => name === 'currency' || name === 'issuer_id'
const rollupRow = object(
  'One currency of one issuer.',
  Object.fromEntries(
    Object.entries(ROLLUP_WORDS).map(([name, words]) => [name, isText(name) ? text(words) : whole(words)]),
  ),
)

const step = object('One step; what it is made of stands beside it.', {
  step: word('What is computed.', [
    'line',
    'subtotal',
    'group',
    'discount',
    'tax',
    'total',
    'payment',
    'credit',
    'balance',
  ]),
  amount_cents: whole('What it comes to.'),
  words: text('The step as a sentence.'),
  exact_cents: text('Of lines and taxes: a decimal, as it was before rounding.'),
  floor_cents: whole('Of a discount: its share rounded down.'),
  extra_cents: whole('Of a discount: what the largest remainders got beside.'),
  tax_rate_bp: whole('Of groups, discounts and taxes: the rate.'),
})
const explanation = object('How the balance came about.', {
  id: text('Names the invoice.'),
  number: textOrNull('Number in the register.'),
  currency: text('The currency.'),
  total_cents: whole('The total.'),
  balance_cents: whole('What is left to pay.'),
  steps: list('In the order of computing.', step),
})

const finding = object('One finding.', {
  code: text('The code of the refusal.'),
  pointer: text('JSON pointer into the body.'),
  detail: text('The rule and the figures.'),
})
const totals = object('The totals; null where they cannot be computed.', {
  subtotal_cents: whole('The lines together.'),
  discount_cents: whole('The discount.'),
  tax_groups: list(
    'By rising rate.',
    object('One rate.', {
      tax_rate_bp: whole('The rate in basis points.'),
      base_cents: whole('What is taxed.'),
      tax_cents: whole('The tax.'),
    }),
  ),
  tax_cents: whole('Tax, rounded once per rate.'),
  total_cents: whole('Lines minus discount plus tax.'),
})
const rehearsed = object('What would become of it.', {
  ok: flag('POST /api/invoices would take it.'),
  problems: list('What it would be refused with.', finding),
  totals: orNull(totals),
  reminders: list(
    'When the client would be reminded, if it were sent now and not paid.',
    object('One reminder.', {
      step: text('Days from the due date.'),
      on: text("The day, in the issuer's zone."),
    }),
  ),
  gate: {
    type: ['string', 'null'],
    description: 'How the client would get to the page.',
    enum: ['account', 'password', null],
  },
  warnings: list('What deserves a look and is no reason to refuse.', text('A sentence.')),
  replay_of: orNull(
    object('The invoice that an earlier call with this external_ref made: it would be answered.', {
      id: text('Names the invoice.'),
      number: textOrNull('Its number.'),
    }),
  ),
})

const series = object('One register.', {
  id: text('What ?series= takes.'),
  issuer_id: textOrNull('The issuer; null of the test registers.'),
  prefix: text('What its numbers begin with.'),
  year: whole('The year of issue.'),
  test: flag('A test register.'),
  kind: word('What is numbered in it.', ['invoice', 'credit_note']),
  count: whole('How many numbers were given.'),
  entries: whole('How many entries there are, with the later ones.'),
  first: whole('Place of the first.'),
  last: whole('Place of the last.'),
  last_number: textOrNull('The last number.'),
  head_hash: text('Hash of the last entry: keep it, and nothing before it can be changed unseen.'),
  verified: flag('Every entry was recomputed just now, and the chain holds.'),
})
const entry = object('One entry.', {
  seq: whole('Place of its number; of a later entry that of the newest number of its time.'),
  step: whole('0 of an entry that stands for a number; later ones follow at 1, 2, ….'),
  entry: word(
    'A number was issued, restored to its document after an older copy of the database, or set aside as lost; or what was issued was amended, voided or credited.',
    ENTRY_WORDS,
  ),
  number: text('The number that it is of.'),
  invoice_id: text('The invoice that it is of.'),
  resource: text('What is hashed: the invoice, or <invoice>/<credit note>.'),
  kind: word('What was numbered.', ['invoice', 'credit_note']),
  total_cents: whole('The total; of credited what was credited, of voided what was taken back.'),
  currency: text('Its currency.'),
  issued_at: text('When the entry was made, as an instant.'),
  reference: text(
    'Of amended the sha256 of the document, of credited the number of the credit note, of restored and lost why.',
  ),
  hash: text('sha256 over the entry and the hash before it.'),
  prev_hash: text('The hash before it.'),
})

/** One that would be taken, and one without what sending needs. */
const REHEARSALS = [
  {
    send: true,
    client_name: 'ACME',
    client_email: 'billing@acme.test',
    currency: 'EUR',
    due_date: '2030-01-31',
    tax_rate_bp: 2000,
    items: [{ description: 'October retainer', qty: 1.5, unit_cents: 80_000 }],
  },
  { send: true, client_name: 'ACME', items: [] },
]

/** They stand before `/api/invoices/:id`, which would take their names for ids. */
export const bookRoutes: Route<BooksNeeds>[] = [
  {
    ...reads,
    method: 'GET',
    path: '/api/invoices/reconciliation',
    summary: 'Reconcile a month',
    description:
      "By currency and issuer; the month in each issuer's time zone. Test invoices are left out. As CSV with format=csv or Accept: text/csv.",
    query: {
      month: { type: 'string', description: 'YYYY-MM; the present month when left out.', pattern: MONTH_PATTERN },
      format: word('json when left out.', ['json', 'csv']),
    },
    answers: {
      200: {
        description: 'The month.',
        orAs: ['text/csv'],
        schema: object('The month.', { month: text('YYYY-MM.'), rollup: list('By currency and issuer.', rollupRow) }),
      },
    },
    codes: [],
    handle: getReconciliation,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/invoices/export.csv',
    summary: 'Export invoices as CSV',
    description: 'Newest first, all that the filters leave, archived ones too. Streamed; amounts are in hundredths.',
    query: listFilters,
    answers: { 200: { description: 'The table (RFC 4180).', contentType: 'text/csv' } },
    codes: [],
    handle: exportInvoices,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/invoices/numbering',
    summary: 'The register of numbers',
    description:
      'Each register with its chain of hashes, verified anew. With series: its entries, in the order of the chain.',
    query: {
      series: { type: 'string', description: 'The id of a register: its entries.', maxLength: 400 },
      ...pageQuery,
    },
    answers: {
      200: {
        description: 'The registers, or one page of entries.',
        schema: object('The registers, or one page of entries.', {
          series: list('Without series.', series),
          entries: list('With series.', entry),
          ...paging,
        }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: getNumbering,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/invoices/numbering/export',
    summary: 'Export the register',
    description:
      'JSON lines with all that is hashed, for /client/verify-register.mjs, which checks them without this service.',
    answers: { 200: { description: 'The registers, line by line.', contentType: 'application/x-ndjson' } },
    codes: [],
    handle: exportRegister,
  },
  {
    method: 'POST',
    path: '/api/invoices/preflight',
    summary: 'Rehearse an invoice',
    description: 'Says what POST /api/invoices would do with this body, by the same rules, and does nothing.',
    tag: 'Books',
    scope: scope('create.invoice'),
    looks: true,
    rehearses: true,
    body: withExamples(preflightBody, ...REHEARSALS),
    answers: { 200: { description: 'What would become of it.', schema: rehearsed } },
    codes: [],
    handle: preflight,
  },
  {
    ...reads,
    method: 'GET',
    path: '/api/invoices/:id/explain',
    summary: 'Explain the amounts of an invoice',
    description: 'Each step from quantity to balance, as figures and as words.',
    answers: { 200: { description: 'The steps.', schema: object('The steps.', { explanation }) } },
    codes: ['NOT_FOUND', 'INVALID_FIELD', 'BAD_AMOUNT', 'NO_ITEMS', 'ZERO_TOTAL', 'BAD_METADATA'],
    handle: explainInvoice,
  },
]
