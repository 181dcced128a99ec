/** What comes from the client's page and from the mail server: claims, first looks, and mails that failed for good. */

import type { MailDeliveryState } from '../../../crds/invoice/facts/deliveries.ts'
import { recordedOf } from '../../../crds/invoice/facts/records.ts'
import { CLAIMS_MAX, claimFaults, claimId } from '../../../crds/invoice/money/claim.ts'
import { CLIENT_MAILS_PER_DAY, viewDelivery } from '../../../crds/invoice/planning/delivery.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../crds/invoice/view.ts'
import { delivery, invoiceResource, invoiceSpec, NOW, sentWorld } from '../../support/builders/invoice.ts'
import { type Books, makeBooks } from '../../support/doubles/invoicebooks.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const open = (changes: Partial<InvoiceSpec> = {}, given: { cap?: number } = {}): Books => {
  const books = makeBooks(given)
  books.pass(invoiceResource(changes))
  return books
}
const rest = (books: Books, changes: Partial<InvoiceSpec> = {}) => books.pass(invoiceResource(changes))
const told = (books: Books) => books.events().map(({ type }) => type.slice('invoice.'.length))
const refusals = (books: Books) => books.facts.flatMap(({ refusedCode }) => (refusedCode ? [refusedCode] : []))
const paid = { paidOn: '2026-11-20', reference: 'SEPA-7', amountCents: null }

spec('a claim of a payment', (t) => {
  t('is kept at all that is due, told once, and mailed to the owner once; nothing is paid by it', () => {
    const books = open()
    books.claim(paid)
    const plan = rest(books)
    assert.equal([plan?.status.phase, plan?.status.paidCents, plan?.status.balanceCents], ['sent', 0, 144_000])
    assert.equal(told(books), ['sent', 'payment_claimed'])
    const [notice] = books.notices
    assert.equal(
      [books.notices.length, notice?.mail, notice?.to, notice?.number],
      [1, 'claimed', 'owner@demo.test', 'INV-026-0001'],
    )
    assert.is(notice?.mail === 'claimed' && notice.amount, '1,440.00 EUR')
    const object = invoiceResource()
    const shown = viewInvoice(object, books.observe(), plan?.status).claims
    const claim = {
      id: claimId(paid),
      amount_cents: 144_000,
      paid_on: '2026-11-20',
      reference: 'SEPA-7',
      claimed_at: shown[0]?.claimed_at,
    }
    assert.equal(shown, [claim])
  })

  t('leaves the order open to edits, as long as no money came', () => {
    const books = open()
    books.claim(paid)
    rest(books)
    assert.is(rest(books, { taxRateBp: 1000 })?.verdict.state, 'ready')
  })

  t('is one, however often the same is said; other words are another', () => {
    const books = open()
    for (let n = 0; n < 3; n++) books.claim(paid)
    books.claim({ ...paid, reference: 'SEPA-8' })
    rest(books)
    assert.equal([recordedOf(books.facts).claims.length, books.notices.length], [2, 2])
    assert.equal(told(books), ['sent', 'payment_claimed', 'payment_claimed'])
  })

  const refused: [string, Partial<InvoiceSpec>, (books: Books) => void, number | null, string][] = [
    ['of a voided one', { void: true }, () => {}, null, 'NOT_PAYABLE'],
    ['of a paid one', {}, (books) => books.pay('a', null), null, 'NOTHING_DUE'],
    ['beyond what is due', {}, () => {}, 144_001, 'BAD_PAID_AMOUNT'],
  ]
  for (const [name, changes, before, amountCents, code] of refused) {
    t(`${name} is refused: ${code}`, () => {
      const books = open()
      before(books)
      rest(books, changes)
      books.claim({ ...paid, amountCents })
      rest(books, changes)
      assert.equal([refusals(books), books.notices.length], [[code], 0])
      assert.not.ok(told(books).includes('payment_claimed'))
    })
  }

  t(`beyond ${CLAIMS_MAX} of them is refused`, () => {
    const books = open()
    for (let n = 0; n <= CLAIMS_MAX; n++) books.claim({ ...paid, amountCents: n + 1 })
    rest(books)
    assert.equal([recordedOf(books.facts).claims.length, refusals(books)], [CLAIMS_MAX, ['CLAIM_LIMIT']])
  })

  t('mails nobody in test mode', () => {
    const books = open({ test: true })
    books.claim(paid)
    rest(books, { test: true })
    assert.equal([told(books), books.notices], [['sent', 'payment_claimed'], []])
  })

  t('whatever is killed in between, is told and mailed once', () => {
    for (let effects = 0; effects < 4; effects++) {
      const books = open()
      books.claim(paid)
      books.pass(invoiceResource(), effects)
      rest(books)
      assert.equal([told(books), books.notices.length], [['sent', 'payment_claimed'], 1], `after ${effects}`)
    }
  })

  t('has a day that is neither to come nor long gone', () => {
    const faults = (paidOn: string) => claimFaults({ paidOn }, NOW).length
    const days = ['2026-11-21', '2026-11-22', '2024-11-22', '2026-11-23', '2024-11-20']
    assert.equal(days.map(faults), [0, 0, 0, 1, 1])
  })
})

spec('a look at the page', (t) => {
  t('is told once for each send, and stands in the view', () => {
    const books = open()
    books.view(1)
    books.view(1)
    const plan = rest(books)
    assert.equal(told(books), ['sent', 'viewed'])
    assert.ok(viewInvoice(invoiceResource(), books.observe(), plan?.status).viewed_at)
    books.send('again')
    rest(books)
    books.view(2)
    rest(books)
    assert.equal(told(books), ['sent', 'viewed', 'sent', 'viewed'])
  })

  t('of a voided one is told as it stands', () => {
    const books = open()
    rest(books, { void: true })
    books.view(1)
    rest(books, { void: true })
    assert.equal(books.events().at(-1), { type: 'invoice.viewed', balance: 0, status: 'voided' })
  })
})

spec('a mail that failed for good', (t) => {
  for (const state of ['bounced', 'failed'] as const) {
    t(`is told and mailed to the owner once, and its send does not count: ${state}`, () => {
      const books = open({}, { cap: 5 })
      books.deliveries.push(delivery({ state, attempts: 1, lastError: '550 no such user' }))
      for (let n = 0; n < 3; n++) rest(books)
      assert.equal(told(books), ['sent', 'delivery_failed'])
      assert.equal([books.notices.length, books.quotaLeft()], [1, 6])
      const [notice] = books.notices
      assert.is(notice?.mail === 'undelivered' && notice.why, '550 no such user')
    })
  }

  t('also when it was no send, but then no place is given back', () => {
    const books = open({}, { cap: 5 })
    books.deliveries.push(delivery({ purpose: 'receipt:paid', state: 'failed' }))
    rest(books)
    assert.equal([told(books), books.quotaLeft()], [['sent', 'delivery_failed'], 5])
  })

  t('to the owner is not told to the owner', () => {
    const books = open()
    books.deliveries.push(delivery({ purpose: 'owner:claim:clm-1', state: 'bounced' }))
    rest(books)
    assert.equal([told(books), books.notices], [['sent'], []])
  })

  const quiet: MailDeliveryState[] = ['queued', 'deferred', 'accepted', 'unknown']
  for (const state of quiet) {
    t(`is not one that is ${state}`, () => {
      const books = open()
      books.deliveries.push(delivery({ state }))
      rest(books)
      assert.equal([told(books), books.notices], [['sent'], []])
    })
  }

  t('can be sent again', () => {
    const books = open()
    books.deliveries.push(delivery({ state: 'bounced' }))
    rest(books)
    books.send('again')
    rest(books)
    assert.equal(told(books), ['sent', 'delivery_failed', 'sent'])
  })
})

spec('the delivery in the view', (t) => {
  t('is that of the last mail to the client, whatever its owner was mailed since', () => {
    const put = delivery({ state: 'deferred', lastError: '451 later', nextAttemptAt: '2026-11-21T12:01:00.000Z' })
    const world = sentWorld(invoiceSpec(), {
      deliveries: [delivery(), put, delivery({ purpose: 'owner:claim:clm-1', state: 'bounced' })],
    })
    assert.equal(viewDelivery(invoiceSpec(), world), {
      state: 'deferred',
      attempts: 1,
      last_error: '451 later',
      next_attempt_at: '2026-11-21T12:01:00.000Z',
      unknown_attempts: 0,
      to: 'billing@acme.test',
    })
  })

  t(`${CLIENT_MAILS_PER_DAY} mails a day are enough for one client: the next send is refused until tomorrow`, () => {
    const books = open()
    for (let n = 0; n < CLIENT_MAILS_PER_DAY; n++) books.deliveries.push(delivery({ purpose: `invoice:${n + 1}` }))
    books.send('more')
    rest(books)
    assert.equal([refusals(books), told(books)], [['RECIPIENT_CAP'], ['sent']])
    const yesterday = open()
    for (let n = 0; n < CLIENT_MAILS_PER_DAY; n++)
      yesterday.deliveries.push(delivery({ purpose: `invoice:${n + 1}`, at: '2026-11-20T23:59:59.999Z' }))
    yesterday.send('more')
    rest(yesterday)
    assert.equal([refusals(yesterday), told(yesterday)], [[], ['sent', 'sent']])
  })
})
