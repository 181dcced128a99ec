import {
  type InvoiceStage,
  invoiceStory,
  NAME,
  NOTHING,
  openInvoiceStage,
  SENT,
} from '../../support/crash/stories/invoicestory.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { kubectlFor } from '../../support/stage/stage.ts'

/** An invoice whose only client is kubectl, wherever the processes die: what was applied is there, and is done once. */

const object = (namespace: string, more: object = {}) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Invoice',
  metadata: { name: NAME, namespace },
  spec: {
    account: 'demo',
    externalRef: 'applied',
    send: true,
    clientName: 'ACME',
    clientEmail: 'billing@acme.test',
    currency: 'EUR',
    dueDate: '2027-12-20',
    items: [{ description: 'October retainer', qty: '1.5', unitCents: 80_000 }],
    ...more,
  },
})

spec('an invoice by kubectl alone, whose processes die at any call', (t) => {
  let stage: InvoiceStage
  const kubectl = (args: string[], input?: unknown) => kubectlFor(stage.namespace.kubeconfig)(args, input)
  const apply = (more: object = {}) => kubectl(['apply', '-f', '-'], object(stage.namespace.name, more))
  const remove = () => kubectl(['delete', 'inv', NAME, '-n', stage.namespace.name, '--ignore-not-found'])
  t.before(async () => {
    stage = await openInvoiceStage('invoice-kubectl')
  })
  t.after(() => stage.end())

  sweep(t, { what: 'one that is applied is numbered and mailed once', callsMin: 5, points: 2 }, () =>
    invoiceStory(stage, { given: null, play: () => apply(), whole: SENT }),
  )

  sweep(t, { what: 'one that is applied as void is voided once', callsMin: 4, points: 2 }, () =>
    invoiceStory(stage, {
      given: apply,
      play: () => apply({ void: true }),
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

  sweep(t, { what: 'a numbered one that is deleted stays on record', callsMin: 1, points: 1 }, () =>
    invoiceStory(stage, { given: apply, play: remove, whole: { ...SENT, status: 'archived' } }),
  )

  sweep(t, { what: 'a draft that is deleted is gone', callsMin: 1, points: 1 }, () =>
    invoiceStory(stage, {
      given: () => apply({ send: false }),
      play: remove,
      whole: NOTHING,
      look: async (url) => assert.is(await stage.rows(url), 0),
    }),
  )
})
