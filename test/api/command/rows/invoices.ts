import { png } from '../../../support/builders/logos.ts'
import { addAccount } from '../../../support/stage/callers.ts'
import { type Json, order } from '../../../support/stage/invoicing.ts'
import type { Prepare, TableRow, TableRows, TableStage, Waits } from './row.ts'

const ALL = '/api/invoices'
const RECURRENCE = { every: 'month', day: 1, mode: 'draft' }
/** More than any invoice here. */
const TOO_MUCH_CENTS = 100_000_000

type Made = { stage: TableStage; tag: string; invoice: Json }
/** How an invoice comes to stand before the call. */
type Before = (stage: TableStage, tag: string) => Promise<Json>

/** Each has a client of its own: the mails about one are limited. */
const orderOf = (tag: string, change: Record<string, unknown> = {}) =>
  order({ client_email: `${tag}@acme.test`, ...change })

const draft: Before = async ({ sure, owner }, tag) =>
  (await sure(owner, 'POST', ALL, orderOf(tag, { send: false }))).invoice
const sent: Before = async ({ sure, owner }, tag) => (await sure(owner, 'POST', ALL, orderOf(tag))).invoice
const voided: Before = async (stage, tag) => {
  const { id } = await sent(stage, tag)
  return (await stage.sure(stage.owner, 'POST', `${ALL}/${id}/void`)).invoice
}
const paid: Before = async (stage, tag) => {
  const { id, total_cents } = await sent(stage, tag)
  const whole = { amount_cents: total_cents, reference: tag }
  return (await stage.sure(stage.owner, 'POST', `${ALL}/${id}/payments`, whole)).invoice
}

const on =
  (stage: TableStage, before: Before, rest: string, body?: (made: Made) => unknown): Prepare =>
  async (tag) => {
    const invoice = await before(stage, tag)
    const said = body?.({ stage, tag, invoice })
    return { path: `${ALL}/${invoice.id}${rest}`, by: stage.owner, ...(said !== undefined && { body: said }) }
  }

const waits = (prepare: Prepare, more: Partial<Waits> = {}): Waits => ({
  kind: 'inv',
  prepare,
  status: 200,
  gone: 'unknown',
  ...more,
})

/** Of one with a number, which stays on record: it comes back by itself for what was reported of it. */
const REPORTED = { gone: 'succeeded' } as const

const create = (stage: TableStage): TableRow => ({
  waits: waits(async (tag) => ({ path: ALL, body: orderOf(tag, { external_ref: tag }), by: stage.owner }), {
    status: 201,
  }),
  refused: {
    code: 'REF_PAYLOAD_MISMATCH',
    async prepare(tag) {
      await stage.sure(stage.owner, 'POST', ALL, orderOf(tag, { external_ref: tag }))
      return { path: ALL, body: orderOf(tag, { external_ref: tag, currency: 'USD' }), by: stage.owner }
    },
  },
})

/** Changes of desire. */
const changes = (stage: TableStage): TableRows => ({
  'POST /api/invoices': create(stage),
  'PATCH /api/invoices/:id': {
    waits: waits(on(stage, draft, '', () => ({ terms: '30 days' }))),
    refused: { code: 'LOCKED_PAID', prepare: on(stage, paid, '', () => ({ terms: 'Too late' })) },
  },
  'DELETE /api/invoices/:id': {
    waits: waits(on(stage, draft, ''), { status: 204, gone: 'succeeded' }),
    refused: { code: 'LOCKED_NUMBERED', prepare: on(stage, sent, '') },
  },
  'POST /api/invoices/:id/send': {
    waits: waits(on(stage, draft, '/send')),
    refused: { code: 'LOCKED_VOID', prepare: on(stage, voided, '/send') },
  },
  'POST /api/invoices/:id/recurrence': {
    waits: waits(on(stage, draft, '/recurrence', () => RECURRENCE)),
    refused: { code: 'LOCKED_VOID', prepare: on(stage, voided, '/recurrence', () => RECURRENCE) },
  },
  'POST /api/invoices/:id/void': {
    waits: waits(on(stage, sent, '/void')),
    refused: { code: 'NOT_NUMBERED', prepare: on(stage, draft, '/void') },
  },
})

const reports = (stage: TableStage): TableRows => ({
  'POST /api/invoices/:id/payments': {
    waits: waits(
      on(stage, sent, '/payments', ({ tag }) => ({ amount_cents: 100, reference: tag })),
      REPORTED,
    ),
    refused: {
      code: 'BAD_PAID_AMOUNT',
      prepare: on(stage, sent, '/payments', ({ tag }) => ({ amount_cents: TOO_MUCH_CENTS, reference: tag })),
    },
  },
  'POST /api/invoices/:id/credit-note': {
    waits: waits(
      on(stage, sent, '/credit-note', () => ({ amount_cents: 100, reason: 'Late' })),
      { status: 201, ...REPORTED },
    ),
    refused: {
      code: 'NOT_NUMBERED',
      prepare: on(stage, draft, '/credit-note', () => ({ amount_cents: 100, reason: 'Early' })),
    },
  },
  'POST /api/invoices/:id/remind': {
    waits: waits(on(stage, sent, '/remind'), REPORTED),
    refused: { code: 'NOTHING_DUE', prepare: on(stage, paid, '/remind') },
  },
})

const NEVER_REFUSED = { never: 'whatever becomes of it, who may look at it can be ended' } as const

const rotations = (stage: TableStage): TableRows => ({
  'POST /api/invoices/:id/link/rotate': {
    waits: waits(
      on(stage, sent, '/link/rotate', () => ({})),
      REPORTED,
    ),
    refused: NEVER_REFUSED,
  },
  'POST /api/invoices/:id/password/rotate': {
    waits: waits(
      on(stage, sent, '/password/rotate', () => ({})),
      REPORTED,
    ),
    refused: NEVER_REFUSED,
  },
})

const withLogo =
  ({ sure, owner }: TableStage, bytes: Buffer): Prepare =>
  async (tag) => {
    const { issuer } = await sure(owner, 'POST', `${ALL}/issuers`, { number_prefix: tag.toUpperCase() })
    return {
      path: `${ALL}/issuers/${issuer.id}/logo`,
      body: bytes,
      headers: { 'content-type': 'image/png' },
      by: owner,
    }
  }

const ASKER_GOES = { never: 'its resource is the account that asks, with which the caller goes' }

/** Of the account, seen from its invoices. */
const settings = (stage: TableStage): TableRows => ({
  'POST /api/invoices/settings/rails': {
    waits: waits(
      async (tag) => ({
        path: `${ALL}/settings/rails`,
        body: { rail: 'stripe', enabled: true },
        by: await addAccount(stage.platform, tag, {}),
      }),
      { kind: 'acct', gone: ASKER_GOES },
    ),
    refused: { never: 'a rail may be switched on before there is a processor' },
  },
  'POST /api/invoices/issuers/:id/logo': {
    waits: waits(withLogo(stage, png), { kind: 'acct', gone: ASKER_GOES }),
    refused: { code: 'BAD_LOGO', prepare: withLogo(stage, Buffer.from('no picture')) },
  },
})

export const invoiceRows = (stage: TableStage): TableRows => ({
  ...changes(stage),
  ...reports(stage),
  ...rotations(stage),
  ...settings(stage),
})
