import { INVOICE } from '../../../crds/invoice/kind.ts'
import {
  askInvoice,
  type InvoiceStage,
  invoiceStory,
  NAME,
  NOTHING,
  openInvoiceStage,
  type Stand,
} from '../../support/crash/stories/invoicestory.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { makeMovedClock } from '../../support/doubles/movedclock.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A draft that is drawn, and a test whose thirty days are over, wherever the processes die. */

const START = '2026-11-21T12:00:00.000Z'
const OVER = '2026-12-22T12:00:00.000Z'
const clock = makeMovedClock(START)
const DRAFT: Stand = { ...NOTHING, status: 'draft' }

spec('an invoice that is in no register, whose processes die at any call', (t) => {
  let stage: InvoiceStage
  t.before(async () => {
    stage = await openInvoiceStage('invoice-draft')
  })
  t.after(() => stage.end())

  sweep(t, { what: 'the draft is drawn once', callsMin: 6, points: 2 }, () =>
    invoiceStory(stage, {
      given: { send: false },
      async play(process, asking) {
        const { status, bytes } = await askInvoice(process, 'GET /api/invoices/:id/pdf', {}, asking)
        assert.equal([status, bytes?.toString('latin1', 0, 4)], [200, '%PDF'])
      },
      whole: { ...DRAFT, facts: 'preview previewed' },
    }),
  )

  sweep(t, { what: 'the test is gone with all that was kept of it', callsMin: 5, points: 2 }, () =>
    invoiceStory(stage, {
      given: { test: true },
      options: { now: clock.now },
      prepare: () => clock.reset(START),
      async play({ api, operator }) {
        // the dead move no clock: this is a call of the life
        await api.mirror.get(INVOICE, NAME, { account: 'demo' })
        clock.moveTo(OVER)
        await (await operator()).lookAtAll()
      },
      // its number is not given again
      whole: { ...NOTHING, register: 'invoice', told: 'invoice.sent' },
    }),
  )
})
