/** The routes of invoices as data: what the server serves and what the OpenAPI document says (rules/invoice.md#over-rest). */
import { SYNTAXES } from '../../crds/invoice/document/einvoice/write.ts'
import { invoiceAnswer } from '../../crds/invoice/rest/answer.ts'
import { spec } from '../../crds/invoice/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import type { ProblemCode } from '../../crds/kernel/problem.ts'
import { type JsonSchema, restSchema } from '../../crds/kernel/rest.ts'
import type { Scope } from '../auth/scopes.ts'
import { pageQuery, paging } from '../openapi/paging.ts'
import { flag, list, object, text, whole, withExamples } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import { bookRoutes } from './books/book-routes.ts'
import { deleteInvoice, patchInvoice } from './change.ts'
import { createInvoice } from './create.ts'
import { getPdf, getSnapshot, listSnapshots } from './documents/pdf.ts'
import { getXml } from './documents/xml.ts'
import { moneyRoutes } from './money/routes.ts'
import type { BooksNeeds, DocumentNeeds, InvoiceNeeds } from './needs.ts'
import { invoices, listFilters } from './read.ts'
import { rotateRoutes } from './send/rotate.ts'
import { pendingAnswer, wrapped } from './shapes.ts'
import { timingRoutes } from './timing/routes.ts'

const created: JsonSchema = named(
  'CreatedInvoice',
  object('What was made.', {
    number: { type: ['string', 'null'], description: 'Number in the register; null for a draft.' },
    url: { type: ['string', 'null'], description: "The client's page." },
    password: text('Opens the page. Only for a client without an account of this service.'),
    idempotent_replay: flag('True when this is the answer to an earlier call.'),
    would_email: { type: ['object', 'null'], description: 'In test mode: the mail that was not sent.' },
    invoice: invoiceAnswer,
  }),
)

const scope = (name: Scope) => ({ kind: 'scope' as const, scope: name })
const tag = 'Invoices'
const one = '/api/invoices/:id'
const pdf = { description: 'The PDF.', contentType: 'application/pdf' }

/** What may be wrong with what an invoice is to say, when it is made or changed. */
const CONTENT_CODES: readonly ProblemCode[] = [
  'BAD_EXTERNAL_REF',
  'BAD_METADATA',
  'BAD_AMOUNT',
  'BAD_PAID_AMOUNT',
  'PAID_REQUIRES_SEND',
  'BAD_ISSUER',
  'NO_ITEMS',
  'ZERO_TOTAL',
  'CURRENCY_UNSUPPORTED_FOR_COLLECT',
  'DOCUMENT_TOO_LARGE',
  'DOCUMENT_SET_ASIDE',
]

const retainer = { description: 'October retainer', qty: 1.5, unit_cents: 80_000 }
/** Numbered and mailed, a draft, a test, and a receipt. */
const ORDERS = [
  {
    external_ref: 'order-1001',
    send: true,
    client_name: 'ACME',
    client_email: 'billing@acme.test',
    currency: 'EUR',
    due_date: '2030-01-31',
    tax_rate_bp: 2000,
    items: [retainer],
    metadata: { project: 'relaunch', phase: 2 },
  },
  { client_name: 'ACME', currency: 'EUR', items: [retainer] },
  {
    send: true,
    test: true,
    client_name: 'ACME',
    client_email: 'billing@acme.test',
    currency: 'EUR',
    items: [retainer],
  },
  {
    send: true,
    client_name: 'ACME',
    client_email: 'billing@acme.test',
    currency: 'EUR',
    items: [retainer],
    paid: { method: 'bank transfer', reference: 'TX-93' },
  },
]

export const listRoute: Route<Pick<Deps, 'mirror'>> = {
  method: 'GET',
  path: '/api/invoices',
  summary: 'List invoices',
  description: 'Newest first.',
  tag,
  scope: scope('invoices:read'),
  query: { ...listFilters, ...pageQuery },
  answers: {
    200: {
      description: 'One page.',
      schema: object('One page.', {
        invoices: list('Newest first.', invoiceAnswer),
        ...paging,
      }),
    },
  },
  codes: ['INVALID_FIELD', 'UNKNOWN_PARAMETER'],
  handle: invoices.list,
}

export const invoiceRoutes: Route<InvoiceNeeds & BooksNeeds & DocumentNeeds>[] = [
  ...bookRoutes,
  {
    method: 'POST',
    path: '/api/invoices',
    summary: 'Create an invoice',
    description: 'With send: true it is numbered, frozen and emailed before the answer.',
    tag,
    scope: scope('create.invoice'),
    body: withExamples(restSchema(spec), ...ORDERS),
    answers: {
      201: { description: 'Made.', schema: created },
      200: { description: 'Made by an earlier call with this external_ref.', schema: created },
      202: pendingAnswer,
    },
    codes: [...CONTENT_CODES, 'NAME_TAKEN', 'REF_PAYLOAD_MISMATCH', 'SEND_CAP', 'LEDGER_BEHIND'],
    handle: createInvoice,
  },
  listRoute,
  {
    method: 'GET',
    path: one,
    summary: 'Read an invoice',
    tag,
    scope: scope('invoices:read'),
    answers: { 200: { description: 'The invoice.', schema: wrapped } },
    codes: ['NOT_FOUND'],
    handle: invoices.get,
  },
  {
    method: 'PATCH',
    path: one,
    summary: 'Change an invoice',
    description:
      'A draft, or a sent one without a payment: what was sent is owed until the edit is sent too, see warnings. send: true sends a draft. null takes a field away. Currency and issuer are fixed with the number.',
    tag,
    scope: scope('invoices:write'),
    body: withExamples(
      restSchema(spec, { partial: true }),
      { due_date: '2030-02-28', terms: '30 days' },
      { terms: null },
    ),
    answers: { 200: { description: 'The invoice.', schema: wrapped }, 202: pendingAnswer },
    codes: [
      'NOT_FOUND',
      'TEST_IMMUTABLE',
      'REF_IMMUTABLE',
      'LOCKED_NUMBERED',
      'LOCKED_PAID',
      'LOCKED_PARTIAL',
      'LOCKED_VOID',
      ...CONTENT_CODES,
      'SEND_CAP',
      'LEDGER_BEHIND',
    ],
    handle: patchInvoice,
  },
  {
    method: 'DELETE',
    path: one,
    summary: 'Delete a draft or a test invoice',
    tag,
    scope: scope('invoices:write'),
    answers: { 204: { description: 'Gone.' }, 202: pendingAnswer },
    codes: ['NOT_FOUND', 'LOCKED_NUMBERED'],
    handle: deleteInvoice,
  },
  {
    method: 'GET',
    path: `${one}/pdf`,
    summary: 'The PDF of an invoice',
    description: 'As last sent, or as stamped PAID or VOID since; a draft carries a DRAFT stamp.',
    tag,
    scope: scope('invoices:read'),
    answers: { 200: pdf },
    codes: ['NOT_FOUND', 'BAD_ISSUER', 'DOCUMENT_TOO_LARGE', 'DOCUMENT_SET_ASIDE', 'PDF_BUSY', 'PDF_RENDER_OFF'],
    handle: getPdf,
  },
  {
    method: 'GET',
    path: `${one}/xml`,
    summary: 'The electronic invoice by EN 16931',
    description:
      'Of the document that /pdf gives. cii is what it carries (Factur-X, profile EN 16931); ubl is UBL 2.1.',
    tag,
    scope: scope('invoices:read'),
    query: {
      syntax: { type: 'string', description: 'cii when left out.', enum: [...SYNTAXES] },
      sha256: {
        type: 'string',
        description: 'Of this snapshot in place of the newest: an earlier send, a credit note.',
        pattern: '^[0-9a-f]{64}$',
      },
    },
    answers: { 200: { description: 'The XML.', contentType: 'application/xml' } },
    codes: ['NOT_FOUND', 'INVALID_FIELD', 'UNKNOWN_PARAMETER', 'XML_OF_DRAFT', 'XML_OF_VOID', 'XML_INCOMPLETE'],
    handle: getXml,
  },
  {
    method: 'GET',
    path: `${one}/snapshots`,
    summary: 'The PDFs frozen at each send, when paid or voided, and of credit notes',
    tag,
    scope: scope('invoices:read'),
    answers: {
      200: {
        description: 'Newest first.',
        schema: object('Newest first.', {
          snapshots: {
            type: 'array',
            description: 'Newest first.',
            items: object('One snapshot.', {
              sha256: text('Names the bytes.'),
              created_at: text('When it was frozen.'),
              kind: {
                type: 'string',
                description: 'What it is: the invoice as sent, stamped PAID or VOID, or a credit note.',
                enum: ['invoice', 'paid', 'void', 'credit_note'],
              },
              number: text('The number on it.'),
              bytes: whole('How long it is.'),
              xml: object('The electronic invoice inside (Factur-X).', {
                profile: { type: ['string', 'null'], description: 'EN 16931; null when it is not inside.' },
                reason: { type: ['string', 'null'], description: 'Why it is not; null when it is.' },
              }),
            }),
          },
        }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listSnapshots,
  },
  {
    method: 'GET',
    path: `${one}/snapshots/:sha256`,
    summary: 'One frozen PDF',
    tag,
    scope: scope('invoices:read'),
    answers: { 200: pdf },
    codes: ['NOT_FOUND'],
    handle: getSnapshot,
  },
  ...moneyRoutes,
  ...timingRoutes,
  ...rotateRoutes,
]
