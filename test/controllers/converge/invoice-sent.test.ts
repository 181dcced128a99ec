import { nameFor } from '../../../api/command/name.ts'
import { claimId, claimKey } from '../../../crds/invoice/money/claim.ts'
import { keyOf } from '../../support/crash/ask.ts'
import {
  askInvoice,
  askPage,
  type InvoiceStage,
  invoiceStory,
  openInvoiceStage,
  SENT,
} from '../../support/crash/stories/invoicestory.ts'
import { lags, sweep } from '../../support/crash/sweep.ts'
import { spec } from '../../support/runner/spec.ts'

/** What is done to an invoice that was sent, wherever the processes die, and whether or not its client comes back. */

const one = '/api/invoices/:id'
const DAY_MS = 86_400_000
const CLAIM = { paidOn: new Date(Date.now() - DAY_MS).toISOString().slice(0, 10), reference: 'TX-1', amountCents: null }
/** As its key names it. */
const CREDIT = nameFor('cn', { idempotencyKey: keyOf('credit') })

spec('a sent invoice whose process dies at any call', (t) => {
  let stage: InvoiceStage
  t.before(async () => {
    stage = await openInvoiceStage('invoice-sent')
  })
  t.after(() => stage.end())

  sweep(t, { what: 'it is voided once', callsMin: 10, points: 2 }, () =>
    invoiceStory(stage, {
      given: {},
      play: (process, asking) => askInvoice(process, `POST ${one}/void`, {}, asking),
      whole: {
        ...SENT,
        status: 'voided',
        register: 'invoice voided',
        facts: 'snapshot',
        told: 'invoice.sent invoice.voided',
        mails: 'invoice:1 voided:void',
      },
    }),
  )

  sweep(t, { what: 'it is sent again once', callsMin: 10, points: 2 }, () =>
    invoiceStory(stage, {
      given: {},
      play: (process, asking) => askInvoice(process, `POST ${one}/send`, { key: 'again' }, asking),
      whole: { ...SENT, sends: 2, facts: 'send', told: 'invoice.sent invoice.sent', mails: 'invoice:1 invoice:2' },
    }),
  )

  const edited = () =>
    invoiceStory(stage, {
      given: {},
      async play(process, asking) {
        await askInvoice(process, `PATCH ${one}`, { body: { client_name: 'ACME Ltd' } })
        return askInvoice(process, `POST ${one}/send`, { key: 'edited' }, asking)
      },
      whole: {
        ...SENT,
        sends: 2,
        register: 'invoice amended',
        facts: 'send',
        told: 'invoice.sent invoice.sent',
        mails: 'invoice:1 invoice:2',
      },
      others: { 'edited alone': SENT },
    })

  sweep(t, { what: 'what was edited is sent once', callsMin: 20, points: 2 }, edited)
  lags(t, 'what was edited is sent once', edited)

  sweep(t, { what: 'it is credited once', callsMin: 10, points: 2 }, () =>
    invoiceStory(stage, {
      given: {},
      play: (process, asking) =>
        askInvoice(process, `POST ${one}/credit-note`, { key: 'credit', body: { amount_cents: 44_000 } }, asking),
      whole: {
        ...SENT,
        register: 'credit_note invoice credited',
        facts: 'credit snapshot',
        told: 'invoice.sent invoice.credit_noted',
        mails: `invoice:1 credited:${CREDIT}`,
      },
    }),
  )

  sweep(t, { what: 'the client claims one payment', callsMin: 8, points: 2 }, () =>
    invoiceStory(stage, {
      given: {},
      play: (process, asking) =>
        askPage(process, 'POST /i/:token/claim', { body: { reference: CLAIM.reference, date: CLAIM.paidOn } }, asking),
      whole: {
        ...SENT,
        facts: 'claim',
        told: 'invoice.sent invoice.payment_claimed',
        mails: `invoice:1 owner:${claimKey(claimId(CLAIM))}`,
      },
    }),
  )
})
