/** The routes of the client's page as data (rules/invoice.md#client-page). */

import { claimBody } from '../../../crds/invoice/money/claim.ts'
import { LANGS } from '../../../crds/invoice/order/frozen.ts'
import { FROM_CHECKOUT } from '../../../crds/invoice/order/gate.ts'
import { claimAnswer } from '../../../crds/invoice/rest/answer.ts'
import { type JsonSchema, restSchema } from '../../../crds/kernel/rest.ts'
import { object, text } from '../../openapi/schemas.ts'
import { showSheet } from '../../page/sheet.ts'
import type { Route } from '../../wiring/route.ts'
import type { PageNeeds } from '../needs.ts'
import { claimPayment } from './claim.ts'
import { forPeople, LOOKS, PAYS, showCreditNote, showLogo, showPage, showPdf } from './show.ts'
import { PAGE_SHEET } from './style.ts'
import { enterPage, sawPage } from './visit.ts'

const open = { scope: { kind: 'public' }, tag: 'Client page' } as const
const looks = { ...open, scope: { kind: 'public', opens: LOOKS } } as const
const page = (description: string) => ({ description, contentType: 'text/html' })
const pdf = { description: 'The PDF.', contentType: 'application/pdf' }
const closed = page('The gate is closed.')
export const lang: Record<string, JsonSchema> = {
  lang: {
    type: 'string',
    description: 'The language to read it in; that of the invoice when left out.',
    enum: [...LANGS],
  },
}
const fromCheckout: Record<string, JsonSchema> = {
  [FROM_CHECKOUT]: {
    type: 'string',
    description: 'The card processor sends the client back: no second payment is offered while its word is awaited.',
    enum: ['true'],
  },
}
const one = '/i/:token'
const FORM_TYPE = 'application/x-www-form-urlencoded'

export const pageRoutes: Route<PageNeeds>[] = [
  {
    ...open,
    scope: { kind: 'public', limit: 'file' },
    method: 'GET',
    path: PAGE_SHEET.path,
    summary: 'Style of the client page',
    codes: [],
    answers: { 200: { description: 'The stylesheet.', contentType: 'text/css' } },
    handle: showSheet(PAGE_SHEET),
  },
  {
    ...looks,
    method: 'GET',
    path: one,
    summary: "The client's page, or its gate",
    query: { ...lang, ...fromCheckout },
    codes: ['NOT_FOUND', 'FORBIDDEN', 'INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    answers: { 200: page('The gate, or the invoice.'), 401: page('Open to one account only: sign in.') },
    handle: forPeople(showPage),
  },
  {
    ...open,
    method: 'POST',
    path: one,
    summary: 'Enter the password of the page',
    query: lang,
    codes: ['NOT_FOUND', 'INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    answers: {
      303: { description: 'The password was right; a cookie opens the page.' },
      401: page('Open to one account only: sign in.'),
      403: page('The password was wrong.'),
      429: page('Too many wrong passwords; Retry-After says when to try again.'),
    },
    handle: forPeople(enterPage),
  },
  {
    ...open,
    scope: { kind: 'public', opens: PAYS },
    method: 'POST',
    path: `${one}/claim`,
    summary: 'Claim a payment',
    description:
      'The client says that it has paid. The seller is told; the invoice stays as it is until the payment is recorded. The same claim again is the same claim. Takes the form of the page, and JSON; answers JSON where that is sent or accepted.',
    query: lang,
    body: restSchema(claimBody),
    bytesTypes: [FORM_TYPE],
    codes: [
      'NOT_FOUND',
      'INVALID_FIELD',
      'UNKNOWN_PARAMETER',
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'CROSS_SITE',
      'BAD_PAID_AMOUNT',
      'NOT_PAYABLE',
      'NOTHING_DUE',
      'CLAIM_LIMIT',
      'LEDGER_BEHIND',
      'TOO_MANY_REQUESTS',
    ],
    answers: {
      201: { description: 'Claimed.', schema: object('What was claimed.', { claim: claimAnswer }) },
      200: { description: 'It was claimed before.', schema: object('What was claimed.', { claim: claimAnswer }) },
      202: {
        description: 'Written; the verdict is still to come.',
        schema: object('What is known so far.', { claim: object('The claim.', { id: text('Names the claim.') }) }),
        headers: { location: 'Where to look.', 'retry-after': 'Seconds to wait before that.' },
      },
      303: { description: 'Claimed by the form of the page, which shows it.' },
    },
    handle: forPeople(claimPayment),
  },
  {
    ...looks,
    method: 'POST',
    path: `${one}/viewed`,
    summary: 'Tell that the page is looked at',
    description: "What the page's small script posts. Counts once for each send, and never for the seller's own looks.",
    codes: ['NOT_FOUND', 'FORBIDDEN'],
    answers: { 204: { description: 'Heard.' } },
    handle: sawPage,
  },
  {
    ...looks,
    method: 'GET',
    path: `${one}/pdf`,
    summary: 'The PDF of the last send',
    description: 'As last sent, or as stamped PAID or VOID since.',
    codes: ['NOT_FOUND', 'FORBIDDEN'],
    answers: { 200: pdf, 401: closed },
    handle: forPeople(showPdf),
  },
  {
    ...looks,
    method: 'GET',
    path: `${one}/credit-notes/:number`,
    summary: 'The PDF of a credit note',
    codes: ['NOT_FOUND', 'FORBIDDEN'],
    answers: { 200: pdf, 401: closed },
    handle: forPeople(showCreditNote),
  },
  {
    ...looks,
    method: 'GET',
    path: `${one}/logo`,
    summary: 'The logo of the seller',
    codes: ['NOT_FOUND', 'FORBIDDEN'],
    answers: { 200: { description: 'PNG or JPEG.', contentType: 'image/png', orAs: ['image/jpeg'] }, 401: closed },
    handle: forPeople(showLogo),
  },
]
