/** The routes of card collection as data (rules/invoice.md#card-collection). */
import { RAILS } from '../../../crds/account/schema.ts'
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import type { Scope } from '../../auth/scopes.ts'
import { flag, object, operationId, POLL_HEADERS, text, withExamples } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { InvoiceNeeds, PageNeeds } from '../needs.ts'
import { lang } from '../page/routes.ts'
import { PAYS } from '../page/show.ts'
import { CARD_EVENT_MAX_BYTES, type CardEventNeeds, receiveCardEvent } from './card-webhook.ts'
import { payInvoice } from './pay.ts'
import { getRail, setRail } from './rails.ts'

const scope = (name: Scope) => ({ kind: 'scope' as const, scope: name })
const tag = 'Card collection'
const settings = '/api/invoices/settings/rails'

const rail: JsonSchema = { ...text('The card processor.'), enum: [...RAILS] }
const enabled: JsonSchema = flag('Whether payable invoices of the account show Pay now.')
const setting = {
  rail,
  enabled,
  available: flag('Whether this installation has the card processor.'),
}
const shown = object('The setting.', setting)
const asked: JsonSchema = {
  ...object('The setting.', { rail, enabled }),
  required: ['rail', 'enabled'],
  additionalProperties: false,
}

/** They stand before the routes of one invoice. */
export const railRoutes: Route<InvoiceNeeds>[] = [
  {
    method: 'GET',
    path: settings,
    summary: 'Read the card rail',
    description: 'Whether the account collects by card, and whether this installation can.',
    tag,
    scope: scope('invoices:read'),
    answers: { 200: { description: 'The setting.', schema: shown } },
    codes: [],
    handle: getRail,
  },
  {
    method: 'POST',
    path: settings,
    summary: 'Switch the card rail',
    description: 'For all invoices of the account; collect: {enabled: false} keeps one out. Open checkouts are ended.',
    tag,
    scope: scope('invoices:write'),
    body: withExamples(asked, { rail: 'stripe', enabled: true }, { rail: 'stripe', enabled: false }),
    answers: {
      200: { description: 'The setting.', schema: shown },
      202: {
        description: 'Written, and not seen yet.',
        schema: object('The setting.', { operation_id: operationId, ...setting }),
        headers: POLL_HEADERS,
      },
    },
    codes: ['INVALID_FIELD'],
    handle: setRail,
  },
]

const page = (description: string) => ({ description, contentType: 'text/html' })

/** Open to anybody: one stands behind the gate of the client's page, one is believed by its signature. */
export const collectRoutes: Route<PageNeeds & CardEventNeeds>[] = [
  {
    method: 'POST',
    path: '/i/:token/pay',
    summary: 'Pay an invoice by card',
    description:
      'Leads to a checkout of the card processor; JSON where it is asked for. Under Prefer: respond-async that JSON comes at once, and the same call again has the checkout once it is open; a form always waits.',
    tag: 'Client page',
    scope: { kind: 'public', opens: PAYS },
    query: lang,
    codes: [
      'NOT_FOUND',
      'INVALID_FIELD',
      'UNKNOWN_PARAMETER',
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'COLLECT_OFF',
      'NOT_PAYABLE',
      'NOTHING_DUE',
      'CURRENCY_UNSUPPORTED_FOR_COLLECT',
      'PROCESSOR_UNAVAILABLE',
      'PROCESSOR_REFUSED',
      'LEDGER_BEHIND',
    ],
    answers: {
      200: {
        description: 'Where the checkout is, under Accept: application/json.',
        schema: object('Where the checkout is.', { checkout_url: text('To be opened by whoever pays.') }),
      },
      202: {
        description: 'It is asked for, and still to be opened.',
        schema: object('What is known so far.', { checkout_url: { type: 'null', description: 'Not yet.' } }),
        headers: { location: 'The page; ask for the checkout again.', 'retry-after': 'Seconds to wait before that.' },
      },
      303: { description: 'To the checkout.' },
      401: page('The gate is closed.'),
    },
    handle: payInvoice,
  },
  {
    hidden: true,
    method: 'POST',
    path: '/api/collect/stripe/webhook',
    summary: 'Take in what the card processor reports',
    scope: { kind: 'public', limit: 'cardEvent' },
    bodyMaxBytes: CARD_EVENT_MAX_BYTES,
    handle: receiveCardEvent,
  },
]
