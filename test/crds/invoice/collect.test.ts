import fc from 'fast-check'
import { closedKey, refundedCents, reportKey } from '../../../crds/invoice/facts/collected.ts'
import { booksOf, dueCents } from '../../../crds/invoice/money/books.ts'
import { processorEventOf } from '../../../crds/invoice/money/card-messages.ts'
import { offerOf, refundableCents } from '../../../crds/invoice/money/collect.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { viewInvoice } from '../../../crds/invoice/view.ts'
import { centsOfProcessor, processorUnits } from '../../../crds/values/money.ts'
import { invoiceResource, NOW, world } from '../../support/builders/invoice.ts'
import { type CardBooks, makeCardBooks, rest } from '../../support/doubles/cardbooks.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TOTAL = 144_000
const JPY = { currency: 'JPY', taxRateBp: 0, items: [{ description: 'a', qty: '1', unitCents: 50_050 }] }
const told = (books: CardBooks) => books.events().map(({ type }) => type.slice('invoice.'.length))
const refusals = (books: CardBooks) => books.facts.flatMap(({ refusedCode }) => (refusedCode ? [refusedCode] : []))
const asks = (books: CardBooks) => books.asked.map(({ ask }) => ask.ask)
const fact = (books: CardBooks, key: string) => books.facts.find((one) => one.key === key)
const viewOf = (books: CardBooks) => {
  const around = books.observe()
  return viewInvoice(invoiceResource(), around, planInvoice(invoiceResource(), around, NOW).status)
}
const opened = (books: CardBooks): string => [...books.open.keys()].at(-1) ?? ''
/** An invoice with a checkout open for all of it. */
const atCheckout = (): CardBooks => {
  const books = makeCardBooks()
  books.request('a')
  rest(books)
  return books
}
const paidByCard = (atFirst?: 'pending'): CardBooks => {
  const books = makeCardBooks({}, atFirst)
  books.request('a')
  rest(books)
  books.settle(opened(books))
  rest(books)
  return books
}

spec('amounts at the card processor', (t) => {
  const cases: [cents: number, currency: string, units: number | null][] = [
    [192_000, 'EUR', 192_000],
    [50_000, 'JPY', 500],
    [50_050, 'JPY', null],
    [500, 'ISK', 500],
    [550, 'ISK', null],
    [500, 'UGX', 500],
    [501, 'UGX', null],
    [1_234, 'KWD', 12_340],
    [50_000, 'MGA', 500],
    [12_345, 'HUF', 12_345],
  ]
  for (const [cents, currency, units] of cases) {
    t(`${cents} hundredths of ${currency} are ${units ?? 'no amount'}`, () => {
      assert.is(processorUnits(cents, currency), units)
      if (units !== null) assert.is(centsOfProcessor(units, currency), cents)
    })
  }
  t('cannot be said in hundredths below a hundredth', () => assert.is(centsOfProcessor(12_345, 'KWD'), null))
})

spec('Pay now', (t) => {
  const on = { processor: { livemode: true }, account: { rails: ['stripe'] } }
  const due = { phase: 'sent' as const, balanceCents: 50_000, currency: 'JPY' }
  const cases: [string, Parameters<typeof offerOf>, string | null][] = [
    ['is offered when all agree', [{ test: false }, on, due], null],
    ['needs an installation with a processor', [{ test: false }, { ...on, processor: null }, due], 'SERVER_OFF'],
    ['needs the account', [{ test: false }, { ...on, account: { rails: [] } }, due], 'ACCOUNT_OFF'],
    ['can be kept off one invoice', [{ test: false, collect: { enabled: false } }, on, due], 'INVOICE_OFF'],
    ['asks nobody for real money with a test', [{ test: true }, on, due], 'TEST_INVOICE'],
    ['is for what was sent', [{ test: false }, on, { phase: 'draft' }], 'NOT_PAYABLE'],
    ['is not for what was voided', [{ test: false }, on, { ...due, phase: 'voided' }], 'NOT_PAYABLE'],
    ['needs something due', [{ test: false }, on, { ...due, phase: 'paid', balanceCents: 0 }], 'NOTHING_DUE'],
    ['needs whole units', [{ test: false }, on, { ...due, balanceCents: 50_050 }], 'CURRENCY_UNSUPPORTED_FOR_COLLECT'],
  ]
  for (const [name, given, reason] of cases) {
    t(name, () => assert.equal([offerOf(...given).offered, offerOf(...given).reason], [reason === null, reason]))
  }

  t('keeps an amount that no card can be charged from being sent, and a settled one not', () => {
    const books = makeCardBooks(JPY)
    assert.match(books.pass()?.verdict.message ?? '', /^CURRENCY_UNSUPPORTED_FOR_COLLECT: .*500\.50 JPY/)
    assert.is(books.observe().record, null)
    // the ariary has hundredths by ISO 4217, and cards are charged none
    const ariary = { ...JPY, currency: 'MGA' }
    assert.match(
      makeCardBooks(ariary).pass()?.verdict.message ?? '',
      /^CURRENCY_UNSUPPORTED_FOR_COLLECT: .*500\.50 MGA/,
    )
    const receipt = makeCardBooks({ ...ariary, paid: { method: 'cash', reference: '' } })
    assert.is(receipt.pass()?.status.phase, 'paid')
  })
})

spec('a checkout', (t) => {
  t('is one session for the balance, under one key, and is used again', () => {
    const books = atCheckout()
    books.request('b')
    rest(books)
    assert.equal(asks(books), ['open'])
    assert.equal(
      [fact(books, 'checkout:a')?.outcome, fact(books, 'checkout:b')?.outcome],
      [{ session: 1 }, { session: 1 }],
    )
    assert.match(books.asked[0]?.messageId ?? '', /^inv-october-acme\/session:1\/[0-9a-f]{32}$/)
  })

  t('that the processor reports as run out takes no money any more, and the report is decided', () => {
    const books = atCheckout()
    const id = opened(books)
    books.open.delete(id)
    books.report(closedKey(id), 'closed', { id, how: 'expired' }, 'pending')
    rest(books)
    assert.is(fact(books, closedKey(id))?.state, 'accepted')
    assert.equal(asks(books), ['open'], 'nobody ends what has ended')
    books.request('b')
    rest(books)
    assert.equal(asks(books), ['open', 'open'])
  })

  const strangers: [what: string, key: string, kind: string, body: Record<string, unknown>][] = [
    ['the end of a session', closedKey('cs_other'), 'closed', { id: 'cs_other', how: 'expired' }],
    [
      'a refund',
      reportKey('re_other', 'succeeded'),
      'refund_report',
      { part: 'x', refund: 're_other', state: 'succeeded' },
    ],
  ]
  for (const [what, key, kind, body] of strangers) {
    t(`of which nothing is on record: a report of ${what} is decided all the same`, () => {
      const books = makeCardBooks()
      books.report(key, kind, body, 'pending')
      rest(books)
      assert.is(fact(books, key)?.state, 'accepted')
    })
  }

  t('waits while the processor has not answered, without asking twice', () => {
    const books = makeCardBooks()
    books.pass()
    books.request('a')
    for (let n = 0; n < 3; n++) assert.is(books.pass()?.verdict.state, 'ready')
    assert.equal([asks(books), fact(books, 'checkout:a')?.state], [['open'], 'pending'])
  })

  t('that the processor refuses is refused; the next request asks anew', () => {
    const books = makeCardBooks()
    books.request('a')
    books.pass()
    books.report('card_failed:session:1', 'card_failed', { purpose: 'session:1', reason: 'bad currency' }, 'accepted')
    books.pass()
    assert.equal(refusals(books), ['PROCESSOR_REFUSED'])
    books.forget()
    books.request('b')
    rest(books)
    assert.equal([asks(books), fact(books, 'checkout:b')?.state], [['open', 'open'], 'accepted'])
  })

  const stale: [string, (books: CardBooks) => void, string[]][] = [
    ['a part was paid otherwise', (books) => books.pay('p', 44_000), ['end']],
    ['a part was credited', (books) => books.credit('c', { amountCents: 44_000 }), ['end']],
    [
      'it was edited and sent again',
      (books) => {
        books.edit({ discountCents: 20_000 })
        books.send('again')
      },
      ['end'],
    ],
    ['it was voided', (books) => books.edit({ void: true }), ['end']],
    ['it was paid otherwise', (books) => books.pay('p', null), ['end']],
    ['it was switched off', (books) => books.edit({ collect: { enabled: false } }), ['end']],
    ['nothing changed', () => undefined, []],
  ]
  for (const [name, does, then] of stale) {
    t(`is ${then.length > 0 ? 'ended' : 'kept'} when ${name}`, () => {
      const books = atCheckout()
      does(books)
      rest(books)
      assert.equal(asks(books), ['open', ...then])
      assert.is(books.open.size, then.length > 0 ? 0 : 1)
    })
  }

  t('of a changed balance is another session', () => {
    const books = atCheckout()
    books.pay('p', 44_000)
    books.request('b')
    rest(books)
    assert.equal(asks(books).toSorted(), ['end', 'open', 'open'])
    assert.equal([...books.open.values()], [{ units: 100_000, currency: 'EUR' }])
  })
})

spec('a card payment', (t) => {
  t('makes the invoice paid, once however often it is reported', () => {
    const books = atCheckout()
    const id = opened(books)
    books.settle(id, { units: TOTAL, currency: 'EUR' }, 'pi_x')
    books.settle(id, { units: TOTAL, currency: 'EUR' }, 'pi_x')
    const state = rest(books)?.status
    assert.equal([state?.phase, state?.paidCents, told(books)], ['paid', TOTAL, ['sent', 'paid']])
    const [payment] = viewOf(books).payments
    assert.equal([payment?.declared_by, payment?.method, payment?.reference], ['gateway', 'card', 'pi_x'])
    assert.ok(books.papers.some(({ kind, mail }) => kind === 'paid' && mail === 'receipt'))
  })

  const wrong: [string, Parameters<CardBooks['settle']>[1]][] = [
    ['another amount', { units: TOTAL - 1 }],
    ['another currency', { currency: 'USD' }],
    ['the other mode', { livemode: true }],
  ]
  for (const [name, more] of wrong) {
    t(`of ${name} is not booked, and shown`, () => {
      const books = atCheckout()
      books.settle(opened(books), more)
      rest(books)
      assert.equal([refusals(books), told(books), viewOf(books).paid_cents], [['SETTLEMENT_MISMATCH'], ['sent'], 0])
      assert.match(viewOf(books).warnings.join(), /was not booked: pi_1 /)
    })
  }

  t('in a session that nobody opened is not booked, and shown', () => {
    const books = atCheckout()
    books.settle('cs_stranger', { units: TOTAL, currency: 'EUR' })
    rest(books)
    assert.equal([refusals(books), viewOf(books).paid_cents], [['SETTLEMENT_MISMATCH'], 0])
  })

  t('that comes after all was paid is booked, told to nobody twice, and is to be given back', () => {
    const books = atCheckout()
    const id = opened(books)
    books.pay('p', null)
    books.pass()
    books.settle(id, { units: TOTAL, currency: 'EUR' })
    rest(books)
    const view = viewOf(books)
    assert.equal([view.status, view.paid_cents, told(books)], ['paid', 2 * TOTAL, ['sent', 'paid']])
    assert.match(view.warnings.join(), /1,440\.00 EUR was paid beyond/)
  })

  t('that comes after it was voided is booked and is no payment of it', () => {
    const books = atCheckout()
    const id = opened(books)
    books.edit({ void: true })
    books.pass()
    books.settle(id, { units: TOTAL, currency: 'EUR' })
    rest(books)
    assert.equal([viewOf(books).paid_cents, told(books)], [TOTAL, ['sent', 'voided']])
    assert.match(viewOf(books).warnings.join(), /1,440\.00 EUR came in for this voided invoice/)
  })
})

spec('a refund', (t) => {
  t('goes back over the card payment, and is told when the processor has done it', () => {
    const books = paidByCard()
    books.credit('cn-1', { amountCents: 44_000, refund: true })
    rest(books)
    assert.equal([...books.refunds.values()], [{ part: 'cn-1.1', units: 44_000, intent: 'pi_1' }])
    assert.equal(told(books), ['sent', 'paid', 'credit_noted', 'refunded'])
    const view = viewOf(books)
    assert.equal(
      [view.refunded_cents, view.credit_notes[0]?.refund],
      [44_000, { state: 'succeeded', amount_cents: 44_000, error: null }],
    )
    assert.not.match(view.warnings.join(), /give it back/, 'nothing is owed back any more')
  })

  t('that is pending is told when it succeeds, in whatever order that is reported', () => {
    for (const order of [
      ['succeeded', 'pending'],
      ['succeeded', 'succeeded'],
    ] as const) {
      const books = paidByCard('pending')
      books.credit('cn-1', { refund: true })
      rest(books)
      assert.is(told(books).includes('refunded'), false)
      const [id = ''] = books.refunds.keys()
      for (const state of order) {
        books.reportRefund(id, state)
        rest(books)
      }
      assert.is(told(books).filter((type) => type === 'refunded').length, 1)
      assert.is(viewOf(books).refunded_cents, TOTAL)
    }
  })

  t('that fails is shown, and its money may be refunded by another credit note', () => {
    const books = paidByCard('pending')
    books.credit('cn-1', { amountCents: 44_000, refund: true })
    rest(books)
    const [id = ''] = books.refunds.keys()
    books.reportRefund(id, 'failed', 'lost_or_stolen_card')
    rest(books)
    const view = viewOf(books)
    assert.equal(view.credit_notes[0]?.refund, { state: 'failed', amount_cents: 44_000, error: 'lost_or_stolen_card' })
    assert.match(view.warnings.join(), /refund of 440\.00 EUR of pi_1 failed \(lost_or_stolen_card\)/)
    assert.equal([told(books).includes('refunded'), refundableCents(books.observe())], [false, TOTAL])
  })

  t('is spread over several card payments, never beyond what each has brought', () => {
    const books = makeCardBooks()
    books.request('a')
    rest(books)
    const first = opened(books)
    books.pay('p', 44_000)
    books.pass()
    books.request('b')
    books.pass()
    books.answer()
    books.settle(opened(books))
    // it was paid before it was ended
    books.settle(first, { units: TOTAL, currency: 'EUR' })
    rest(books)
    assert.is(viewOf(books).paid_cents, 44_000 + 100_000 + TOTAL)
    books.credit('cn-1', { refund: true })
    rest(books)
    assert.equal(
      [...books.refunds.values()].map(({ intent, units }) => [intent, units]),
      [
        ['pi_1', 100_000],
        ['pi_2', 44_000],
      ],
    )
    assert.equal(
      [refundableCents(books.observe()), told(books).filter((type) => type === 'refunded')],
      [100_000, ['refunded']],
    )
  })

  const refused: [string, (books: CardBooks) => void, string][] = [
    ['of what came otherwise', (books) => books.pay('p', null), 'NO_GATEWAY_PAYMENT'],
    ['of what nobody paid', () => undefined, 'NO_GATEWAY_PAYMENT'],
  ]
  for (const [name, does, code] of refused) {
    t(`${name} is refused with ${code}`, () => {
      const books = makeCardBooks()
      books.pass()
      does(books)
      books.credit('cn-1', { refund: true })
      rest(books)
      assert.equal([refusals(books), asks(books)], [[code], []])
    })
  }

  t('without an amount is of what came by card, and of more is refused', () => {
    const books = makeCardBooks()
    books.pass()
    books.pay('p', 44_000)
    books.request('a')
    rest(books)
    books.settle(opened(books))
    rest(books)
    books.credit('cn-1', { amountCents: 100_001, refund: true })
    books.credit('cn-2', { refund: true })
    rest(books)
    assert.equal(refusals(books), ['NO_GATEWAY_PAYMENT'])
    assert.equal(
      [...books.refunds.values()].map(({ units }) => units),
      [100_000],
    )
  })
})

spec('a message of the processor', (t) => {
  const session = {
    id: 'cs_1',
    payment_intent: { id: 'pi_1' },
    amount_total: 5,
    currency: 'eur',
    payment_status: 'paid',
    client_reference_id: 'inv-1',
  }
  const completed = { type: 'checkout.session.completed', livemode: true, data: { object: session } }

  t('of a paid session is read in the words of ours', () => {
    const card = { session: 'cs_1', intent: 'pi_1', units: 5, currency: 'EUR', livemode: true }
    assert.equal(processorEventOf(completed), { invoice: 'inv-1', account: null, kind: 'paid', card })
  })
  const silent: [string, unknown][] = [
    ['that is not paid yet', { ...completed, data: { object: { ...session, payment_status: 'unpaid' } } }],
    ['of a connected account', { ...completed, account: 'acct_1' }],
    ['about no invoice', { ...completed, data: { object: { ...session, client_reference_id: null } } }],
    ['of another kind', { ...completed, type: 'customer.created' }],
    [
      'of a refund that was made elsewhere',
      { type: 'refund.updated', data: { object: { id: 're_1', status: 'succeeded' } } },
    ],
    ['that is no object', 'hello'],
    ['without its parts', { type: 'checkout.session.completed', data: null }],
  ]
  for (const [name, message] of silent) t(`${name} says nothing`, () => assert.is(processorEventOf(message), null))
})

// ---- whatever comes, in whatever order, wherever the process dies

const cents = fc.option(fc.integer({ min: 1, max: TOTAL + 10_000 }))
const move = fc.oneof(
  fc.record({ do: fc.constant('pay' as const), amount: cents }),
  fc.record({ do: fc.constant('credit' as const), amount: cents, refund: fc.boolean() }),
  fc.record({ do: fc.constantFrom('request', 'answer', 'card', 'again', 'void', 'fail') }),
  fc.record({ do: fc.constant('pass' as const), effects: fc.option(fc.nat(6)) }),
)
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never

const make = (books: CardBooks, id: string, one: Move): void => {
  if (one.do === 'pay') books.pay(id, one.amount)
  else if (one.do === 'credit')
    books.credit(id, { refund: one.refund, ...(one.amount !== null && { amountCents: one.amount }) })
  else if (one.do === 'pass') books.pass(one.effects ?? undefined)
  else if (one.do === 'request') books.request(id)
  else if (one.do === 'answer') books.answer()
  else if (one.do === 'void') books.edit({ void: true })
  else if (one.do === 'fail') books.reportRefund([...books.refunds.keys()].at(-1) ?? '', 'failed', 'x')
  else if (one.do === 'card' && books.open.size > 0) books.settle(opened(books))
  else if (one.do === 'again' && books.open.size > 0) books.settle([...books.open.keys()][0] ?? '', {}, 'pi_same')
}

/** Everything that must hold of books at rest. */
const holds = (books: CardBooks): void => {
  const end = rest(books)
  const around = books.observe()
  const { payments, credits, requests, collected } = around
  assert.equal([end?.verdict.state, requests, collected.checkouts, collected.reports], ['ready', [], [], []])
  const all = booksOf(TOTAL, around)
  assert.equal([end?.status.paidCents, end?.status.creditedCents], [all.paidCents, all.creditedCents])
  assert.is(end?.status.balanceCents, end?.status.phase === 'voided' ? 0 : dueCents(all))
  assert.ok(all.creditedCents <= TOTAL)
  // every card payment stands once, and no more of it went back than it brought
  assert.is(new Set(payments.map(({ id }) => id)).size, payments.length)
  const alive = collected.refunds.filter(({ state }) => state !== 'failed')
  for (const { reference, amountCents } of payments.filter((one) => one.declaredBy === 'gateway')) {
    const back = alive.filter(({ intent }) => intent === reference).reduce((sum, part) => sum + part.amountCents, 0)
    assert.ok(back <= amountCents, `${back} of ${amountCents}`)
  }
  assert.ok(refundableCents(around) >= 0 && refundedCents(collected.refunds) <= all.paidCents)
  // no session takes money that is not due
  for (const { units } of books.open.values()) assert.is(units, dueCents(all))
  assert.ok(books.open.size <= 1)
  assert.is(new Set(books.asked.map(({ messageId }) => messageId)).size, books.asked.length)
  const count = (type: string) => told(books).filter((one) => one === type).length
  assert.ok(count('paid') <= 1 && count('refunded') <= credits.filter(({ refund }) => refund).length)
}

spec('the books of an invoice that is paid by card', (t) => {
  t('balance whatever is asked and reported, in whatever order, and wherever the process dies', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const books = makeCardBooks()
        books.pass()
        for (const [index, one] of moves.entries()) make(books, String(index), one)
        holds(books)
      }),
      { numRuns: 200 },
    )
  })

  t('are where nobody wanted to collect what they were', () => {
    const plain = planInvoice(invoiceResource(), world(), NOW)
    assert.is('collect' in plain.status, false)
  })
})
