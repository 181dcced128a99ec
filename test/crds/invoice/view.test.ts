import { Ajv2020 } from 'ajv/dist/2020.js'
import { newestSend } from '../../../crds/invoice/facts/ledger.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { invoiceAnswer } from '../../../crds/invoice/rest/answer.ts'
import { shownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../crds/invoice/view.ts'
import type { InvoiceWorld } from '../../../crds/invoice/world.ts'
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import {
  claim,
  delivery,
  frozen,
  invoiceResource,
  invoiceSpec,
  NOW,
  payment,
  sent,
  sentWorld,
  world,
} from '../../support/builders/invoice.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** The answer's schema with every object closed, so that a field that is not described fails. */
const closed = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .map(([word, value]): [string, unknown] => {
        if (word === 'properties') {
          return [
            word,
            Object.fromEntries(
              Object.entries(value as JsonSchema).map(([name, one]) => [name, closed(one as JsonSchema)]),
            ),
          ]
        }
        return [word, word === 'items' ? closed(value as JsonSchema) : value]
      })
      .concat('properties' in schema ? [['additionalProperties', false]] : []),
  )

const fits = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(closed(invoiceAnswer))
const view = (changes: Partial<InvoiceSpec>, around: InvoiceWorld | null) => {
  const object = invoiceResource(changes)
  const facts = around ? planInvoice(object, around, NOW).status : undefined
  return frozen(viewInvoice(object, around, facts))
}

spec('the view of an invoice', (t) => {
  const worlds: [string, Partial<InvoiceSpec>, InvoiceWorld][] = [
    ['one not numbered yet', {}, world()],
    ['a draft', { send: false, metadata: { a: 1, b: 'x', c: true } }, world()],
    ['a sent one', { externalRef: 'order-1', terms: 'now' }, sentWorld()],
    ['one with a fault', { items: [{ description: 'x', qty: '999999999', unitCents: 1e12 }] }, world()],
    ['a test invoice', { test: true }, sentWorld(invoiceSpec({ test: true }))],
    [
      'a paid one',
      {},
      sentWorld(invoiceSpec(), {
        payments: [payment(144_000)],
        deliveries: [delivery({ purpose: 'receipt:paid', state: 'failed', attempts: 2, lastError: 'no route' })],
        claims: [claim()],
        views: [{ seq: 4, at: NOW.toISOString() }],
      }),
    ],
  ]
  for (const [name, changes, around] of worlds) {
    t(`is as the OpenAPI document describes it: ${name}`, () => {
      const object = invoiceResource(changes)
      const shown = shownInvoice(object, around, planInvoice(object, around, NOW))
      assert.ok(fits(shown), JSON.stringify(fits.errors))
    })
  }

  t('says why nothing more happens, and what the creating call asked for after later edits', () => {
    const object = invoiceResource({ items: [] })
    const stalled = shownInvoice(object, world(), planInvoice(object, world(), NOW)).stalled
    assert.is(stalled?.code, 'NO_ITEMS')
    const asked = {
      total_cents: 7,
      currency: 'EUR',
      client_email: null,
      issuer_id: 'iss-default',
      test: false,
      send: false,
    }
    const annotations = { 'bottega.dev/created-from': JSON.stringify(asked) }
    const edited = { ...invoiceResource({}), metadata: { ...invoiceResource({}).metadata, annotations } }
    assert.equal(shownInvoice(edited, world(), planInvoice(edited, world(), NOW)).created_from, asked)
    const broken = { ...edited, metadata: { ...edited.metadata, annotations: { 'bottega.dev/created-from': '{' } } }
    assert.is(shownInvoice(broken, world(), planInvoice(broken, world(), NOW)).created_from?.total_cents, 144_000)
  })

  t('shows a draft as it was asked for, with nothing that is not there', () => {
    const draft = view({ send: false }, null)
    assert.equal(
      [draft.id, draft.number, draft.status, draft.url, draft.sent_at],
      ['inv-october-acme', null, 'draft', null, null],
    )
    assert.equal(draft.items, [
      { description: 'October retainer', qty: 1.5, unit_cents: 80_000, amount_cents: 120_000 },
    ])
    assert.equal(
      [draft.subtotal_cents, draft.tax_cents, draft.total_cents, draft.balance_cents],
      [120_000, 24_000, 144_000, 144_000],
    )
  })

  t('shows number, link and time of sending once it is sent', () => {
    const sent = view({}, sentWorld())
    assert.equal([sent.number, sent.status, sent.url], ['INV-026-0001', 'sent', 'https://bottega.test/i/token'])
    assert.equal([sent.sent_at, sent.paid_at, sent.gate, sent.send_count], [NOW.toISOString(), null, 'password', 1])
  })

  t('shows payments and when the balance reached zero', () => {
    const paid = view(
      {},
      sentWorld(invoiceSpec(), { payments: [payment(44_000, { id: 'a' }), payment(100_000, { id: 'b' })] }),
    )
    assert.equal(
      [paid.status, paid.paid_cents, paid.balance_cents, paid.paid_at],
      ['paid', 144_000, 0, NOW.toISOString()],
    )
    assert.equal(
      paid.payments.map((one) => one.id),
      ['a', 'b'],
    )
  })

  t('tells what a test invoice would have mailed, and of a real one nothing', () => {
    assert.equal(view({ test: true }, sentWorld(invoiceSpec({ test: true }))).would_email, {
      to: 'billing@acme.test',
      mail: 'invoice',
      gate: 'password',
    })
    assert.is(view({}, sentWorld()).would_email, null)
  })

  t('warns when there is nobody to write to', () => {
    const nobody = invoiceSpec()
    delete nobody.clientEmail
    const object = { ...invoiceResource(), spec: nobody }
    const written = (warnings: string[]) => warnings.filter((one) => one.includes('client_email'))
    assert.is(written(viewInvoice(object, sentWorld(nobody)).warnings).length, 1)
    assert.equal(written(view({}, sentWorld()).warnings), [])
  })

  t('is compared with the order as it was claimed, not as it was edited', () => {
    assert.is(view({ discountCents: 20_000 }, sentWorld()).created_from?.total_cents, 144_000)
  })

  t('names the issuer used, also where the order named none', () => {
    assert.is(view({}, world()).issuer_id, 'iss-default')
    assert.is(view({ issuerId: 'iss-2' }, null).issuer_id, 'iss-2')
  })
  t('reads what was sent off the newest send, for the store leaves the documents of those before it out', () => {
    const two = sentWorld(invoiceSpec(), { sends: [{ ...sent(), frozen: null }, sent(invoiceSpec(), 2)] })
    assert.equal([newestSend(two.sends)?.n, view({}, two).send_count, view({}, two).total_cents], [2, 2, 144_000])
    assert.is(newestSend([]), undefined)
    assert.throws(() => newestSend([{ ...sent(), frozen: null }]), /without its document/)
  })
})
