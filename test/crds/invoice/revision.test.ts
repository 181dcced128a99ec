/**
 * What was edited since it was sent, as a pending revision beside what was sent, and what the register is told of it once it
 * is sent (rules/invoice.md#edits-of-what-was-sent, #register).
 */
import { documentOf } from '../../../crds/invoice/document/document.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../crds/invoice/view.ts'
import { invoiceResource, invoiceSpec, NOW } from '../../support/builders/invoice.ts'
import { type CardBooks, makeCardBooks, rest } from '../../support/doubles/cardbooks.ts'
import { makeBooks } from '../../support/doubles/invoicebooks.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TOTAL = 144_000
/** 7.5 × 800.00 + 20 % = 7,200.00 EUR. */
const EDIT: Partial<InvoiceSpec> = { items: [{ description: 'Retainers', qty: '7.5', unitCents: 80_000 }] }
const EDITED = 720_000

const viewOf = (books: Pick<CardBooks, 'observe'>, changes: Partial<InvoiceSpec>) => {
  const around = books.observe()
  const object = invoiceResource(changes)
  return viewInvoice(object, around, planInvoice(object, around, NOW).status)
}

spec('a pending revision', (t) => {
  const revisionOf = (changes: Partial<InvoiceSpec>, books = makeBooks()) => {
    if (books.observe().sends.length === 0) books.pass(invoiceResource())
    return viewOf(books, changes).pending_revision
  }
  const conditionsOf = (changes: Partial<InvoiceSpec>, books = makeBooks()) => {
    books.pass(invoiceResource())
    return planInvoice(invoiceResource(changes), books.observe(), NOW).conditions
  }

  t('says in what the next document differs, what it comes to, and where it can be looked at', () => {
    assert.equal(revisionOf({ ...EDIT, dueDate: '2027-01-05', clientEmail: 'new@acme.test', terms: 'soon' }), {
      changed: [
        { pointer: '/client_email', from: 'billing@acme.test', to: 'new@acme.test' },
        { pointer: '/due_date', from: '2026-12-20', to: '2027-01-05' },
        { pointer: '/terms', from: null, to: 'soon' },
        { pointer: '/items/0/description', from: 'October retainer', to: 'Retainers' },
        { pointer: '/items/0/qty', from: 1.5, to: 7.5 },
      ],
      totals: { subtotal_cents: 600_000, discount_cents: 0, tax_cents: 120_000, total_cents: EDITED },
      preview_url: 'https://bottega.test/api/invoices/inv-october-acme/revision',
    })
  })

  t('names lines that come and go, and the rate of each', () => {
    const [line] = invoiceSpec().items
    if (!line) throw new Error('there is a line')
    const more = { description: 'Travel', qty: '1', unitCents: 100 }
    assert.equal(revisionOf({ items: [line, more] })?.changed, [
      { pointer: '/items/1', from: null, to: { description: 'Travel', qty: 1, unit_cents: 100, tax_rate_bp: 2000 } },
    ])
    assert.equal(revisionOf({ taxRateBp: 1000 })?.changed, [{ pointer: '/items/0/tax_rate_bp', from: 2000, to: 1000 }])
    assert.equal(revisionOf({ items: [{ ...line, qty: '1.500' }] }), null, 'the same quantity in other digits')
  })

  t('is none of a draft, nor of what was sent as it is, paid, credited or voided', () => {
    assert.is(revisionOf({}), null)
    const draft = invoiceResource({ send: false })
    assert.is(viewInvoice(draft, makeBooks().observe()).pending_revision, null)
    assert.is(viewInvoice(draft, null).pending_revision, null)
    const [paid, credited] = [makeBooks(), makeBooks()]
    for (const books of [paid, credited]) books.pass(invoiceResource())
    paid.pay('a', 1)
    credited.credit('cn', { amountCents: 1 })
    for (const books of [paid, credited]) {
      books.pass(invoiceResource())
      assert.is(revisionOf(EDIT, books), null)
    }
    assert.is(revisionOf({ ...EDIT, void: true }), null)
  })

  t('that breaks a rule has no totals and no preview', () => {
    const broken = revisionOf({ items: [] })
    assert.equal([broken?.totals, broken?.preview_url, broken?.changed.length], [null, null, 1])
  })

  t('is gone with the send that puts it into effect', () => {
    const books = makeBooks()
    assert.is(revisionOf(EDIT, books)?.totals?.total_cents, EDITED)
    books.send('again')
    books.pass(invoiceResource(EDIT))
    assert.is(revisionOf(EDIT, books), null)
  })

  t('is a condition of the resource, and none while nothing is pending', () => {
    assert.equal(conditionsOf({}), [])
    const [condition] = conditionsOf({ ...EDIT, clientName: 'Other' }) ?? []
    assert.equal([condition?.type, condition?.status], ['PendingRevision', 'True'])
    assert.match(condition?.message ?? '', /\/clientName.*\/items\/0\/qty.*1,440\.00 EUR to 7,200\.00 EUR/)
    assert.match(conditionsOf({ items: [] })?.[0]?.message ?? '', /cannot be sent/)
  })

  t('is drawn for its owner when somebody asks, marked as not sent, and not once it was sent', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    const around = { ...books.observe(), openPreviews: ['revision-a', 'b'] }
    const { steps } = planInvoice(invoiceResource(EDIT), around, NOW)
    assert.equal(
      steps.map((step) => step.do === 'drawDraft' && [step.key, step.draft.totalCents]),
      [['revision-a', EDITED]],
    )
    const draft = steps[0]?.do === 'drawDraft' ? steps[0].draft : undefined
    if (!draft) throw new Error('nothing is drawn')
    const { stamps, heading } = documentOf(draft)
    assert.equal([stamps[0]?.stamp, heading.number], ['DRAFT', 'INV-026-0001'])
    assert.match(stamps[0]?.note ?? '', /INV-026-0001 has not been sent/)
    assert.equal(planInvoice(invoiceResource(), around, NOW).steps, [])
  })

  t('leaves the recipient, the day and the language of what was sent', () => {
    const books = makeCardBooks()
    books.edit({ clientEmail: 'new@acme.test', dueDate: '2026-11-01', lang: 'es' })
    books.request('a')
    const plan = rest(books)
    assert.is(plan?.status.phase, 'sent', 'not overdue by the day of the edit')
    const [open] = books.asked.map(({ ask }) => ask)
    assert.equal(open?.ask === 'open' && [open.email, open.lang], ['billing@acme.test', 'en'])
    books.edit({ clientEmail: undefined as never })
    books.pay('x', null)
    rest(books)
    const receipt = books.papers.find(({ id }) => id === 'paid')
    assert.is(receipt?.mail, 'receipt', 'the receipt goes where the document went')
  })
})

spec('the register', (t) => {
  const entries = ({ entries: all }: Pick<CardBooks, 'entries'>) =>
    all.map(({ entry, totalCents }) => [entry, totalCents])

  t('is told of a send that changes what was sent, with its document, and of none that repeats it', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    books.send('same')
    books.pass(invoiceResource())
    assert.equal(entries(books), [['issued', TOTAL]])
    books.send('other')
    books.pass(invoiceResource(EDIT))
    books.send('once more')
    books.pass(invoiceResource(EDIT))
    assert.equal(entries(books), [
      ['issued', TOTAL],
      ['amended', EDITED],
    ])
    assert.is(books.entries[1]?.reference, 'send-3')
    books.send('other words')
    books.pass(invoiceResource({ ...EDIT, terms: 'soon' }))
    assert.equal(entries(books).at(-1), ['amended', EDITED], 'another document of the same amount')
  })

  t('is told when the first send is not what was numbered', () => {
    const books = makeBooks()
    books.pass(invoiceResource(), 1)
    assert.equal([books.observe().sends.length, entries(books)], [0, [['issued', TOTAL]]])
    books.pass(invoiceResource(EDIT))
    assert.equal(entries(books), [
      ['issued', TOTAL],
      ['amended', EDITED],
    ])
  })

  t('is told of what was credited and of what was taken back', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    books.credit('cn-1', { amountCents: 4000 })
    books.pass(invoiceResource())
    const number = books.numbers.get('cn-1')?.number
    assert.equal([entries(books).at(-1), books.entries.at(-1)?.reference], [['credited', 4000], number])
    books.pass(invoiceResource({ void: true }))
    assert.equal(entries(books).at(-1), ['voided', TOTAL])
    books.pass(invoiceResource({ void: true }))
    assert.is(entries(books).length, 3)
  })

  t('takes back what was entered, not what was edited since', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    books.pass(invoiceResource({ ...EDIT, void: true }))
    assert.equal(entries(books), [
      ['issued', TOTAL],
      ['voided', TOTAL],
    ])
  })

  t('says the same as the document that was drawn before some field was', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    const { record: number, sends } = books.observe()
    const before = sends.map((one) => ({ ...one, frozen: JSON.parse(JSON.stringify(one.frozen)) }))
    const around = { ...books.observe(), sends: before, resends: 1 }
    const [step] = planInvoice(invoiceResource(), around, NOW).steps
    assert.equal([number !== null, step?.do === 'freeze' && step.entry], [true, null])
  })
})
