import fc from 'fast-check'
import { balanceOf, documentOf } from '../../../crds/invoice/document/document.ts'
import { recordedOf } from '../../../crds/invoice/facts/records.ts'
import { booksOf, creditableCents, dueCents } from '../../../crds/invoice/money/books.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { invoiceResource } from '../../support/builders/invoice.ts'
import { type Books, makeBooks } from '../../support/doubles/invoicebooks.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TOTAL = 144_000
const open = (changes: Partial<InvoiceSpec> = {}, given: { cap?: number } = {}): Books => {
  const books = makeBooks(given)
  books.pass(invoiceResource(changes))
  return books
}
const stateOf = (books: Books, changes: Partial<InvoiceSpec> = {}) => {
  const plan = books.pass(invoiceResource(changes))
  return plan && { verdict: plan.verdict, ...plan.status }
}
const refusals = (books: Books) => books.facts.flatMap(({ refusedCode }) => (refusedCode ? [refusedCode] : []))
const told = (books: Books) => books.events().map(({ type }) => type.slice('invoice.'.length))
const paper = (books: Books, id: string) => {
  const found = books.papers.find((one) => one.id === id)
  if (!found) throw new Error(`no ${id} in ${books.papers.map((one) => one.id)}`)
  return found
}

spec('a payment', (t) => {
  t('without an amount pays all that is left: PAID on a new document, a receipt, one event', () => {
    const books = open()
    books.pay('a', null)
    const { phase, paidCents, balanceCents } = stateOf(books) ?? {}
    assert.equal([phase, paidCents, balanceCents], ['paid', TOTAL, 0])
    const { frozen, mail } = paper(books, 'paid')
    assert.equal([mail, frozen.paid?.amountCents, frozen.paid?.on], ['receipt', TOTAL, '2026-11-21'])
    assert.equal(
      documentOf(frozen).stamps.map(({ stamp }) => stamp),
      ['PAID'],
    )
    assert.equal(told(books), ['sent', 'paid'])
  })

  t('of a part leaves the rest; the last part makes it paid, and the amounts stand as they were decided', () => {
    const books = open()
    books.pay('a', 44_000)
    assert.equal([stateOf(books)?.phase, stateOf(books)?.balanceCents, told(books)], ['partial', 100_000, ['sent']])
    assert.is(books.papers.length, 1, 'no document for a part')
    books.pay('b', null)
    assert.is(stateOf(books)?.phase, 'paid')
    const amounts = recordedOf(books.facts).payments.map(({ amountCents }) => amountCents)
    assert.equal(
      [amounts, told(books)],
      [
        [44_000, 100_000],
        ['sent', 'paid'],
      ],
    )
  })

  const refused: [string, Partial<InvoiceSpec>, (books: Books) => void, string][] = [
    ['above the balance', {}, (books) => books.pay('b', TOTAL + 1), 'BAD_PAID_AMOUNT'],
    ['of a draft', { send: false }, (books) => books.pay('b', 1), 'NOT_PAYABLE'],
    ['of a voided one', { void: true }, (books) => books.pay('b', 1), 'NOT_PAYABLE'],
  ]
  for (const [name, changes, does, code] of refused) {
    t(`${name} is refused with ${code}`, () => {
      const books = makeBooks()
      if (changes.send !== false) books.pass(invoiceResource({}))
      does(books)
      stateOf(books, changes)
      assert.equal([refusals(books), recordedOf(books.facts).payments], [[code], []])
    })
  }

  t('of a paid one is refused with NOTHING_DUE', () => {
    const books = open()
    books.pay('a', null)
    books.pay('b', null)
    stateOf(books)
    assert.equal([refusals(books), told(books)], [['NOTHING_DUE'], ['sent', 'paid']])
  })

  t('of one that was edited and not sent again pays what was sent, and fixes it', () => {
    const books = open()
    const edited = { discountCents: 20_000 }
    books.pay('a', null)
    assert.equal([stateOf(books, edited)?.phase, stateOf(books, edited)?.paidCents], ['paid', TOTAL])
    assert.equal([paper(books, 'paid').frozen.totalCents, balanceOf(paper(books, 'paid').frozen)], [TOTAL, 0])
    for (const known of [edited, {}]) assert.is(stateOf(books, known)?.verdict.state, 'ready')
    assert.match(JSON.stringify(stateOf(books, { discountCents: 1 })?.verdict), /LOCKED_PAID/)
  })

  t('keeps the seller as it was sent, and sends no receipt in test mode', () => {
    const books = open({ test: true })
    books.pay('a', null)
    stateOf(books, { test: true })
    assert.equal(
      [paper(books, 'paid').mail, paper(books, 'paid').frozen.seller],
      [null, paper(books, 'send:1').frozen.seller],
    )
  })

  t('after a partial receipt settles it as any other', () => {
    const changes = { paid: { method: 'cash', reference: '', amountCents: 44_000 } }
    const books = open(changes)
    assert.equal(told(books), ['sent'])
    books.pay('a', null)
    assert.equal([stateOf(books, changes)?.phase, told(books)], ['paid', ['sent', 'paid']])
    assert.is(paper(books, 'paid').frozen.paid?.amountCents, TOTAL)
  })

  t('is told once of a receipt of the whole total, and nothing else is', () => {
    assert.equal(told(open({ paid: { method: 'cash', reference: '' } })), ['paid'])
  })
})

spec('voiding', (t) => {
  t('keeps the number, stamps the document, and tells it once', () => {
    const books = open()
    const { phase, number, balanceCents, verdict } = stateOf(books, { void: true }) ?? {}
    assert.equal([phase, number, balanceCents], ['voided', 'INV-026-0001', 0])
    assert.equal(verdict, { state: 'ready', reason: 'Voided', message: 'INV-026-0001 voided' })
    const { frozen } = paper(books, 'void')
    const document = documentOf(frozen)
    assert.equal(
      [frozen.voidedOn, document.stamps.map(({ stamp }) => stamp), document.due.value],
      ['2026-11-21', ['VOID'], '0.00 EUR'],
    )
    assert.equal(told(books), ['sent', 'voided'])
  })

  t('leaves the money that came in on record', () => {
    const books = open()
    books.pay('a', 44_000)
    stateOf(books)
    const state = stateOf(books, { void: true })
    assert.equal([state?.phase, state?.paidCents, state?.balanceCents], ['voided', 44_000, 0])
    assert.match(state?.verdict.message ?? '', /440\.00 EUR that came in stays on record/)
    assert.equal(
      documentOf(paper(books, 'void').frozen).stamps.map(({ stamp }) => stamp),
      ['VOID'],
    )
  })

  t('stays when the resource comes again without it', () => {
    const books = open()
    stateOf(books, { void: true })
    assert.is(stateOf(books)?.phase, 'voided')
  })

  t('locks the order as it was then, edited and not sent again too', () => {
    const books = open()
    assert.is(stateOf(books, { void: true, discountCents: 20_000 })?.verdict.state, 'ready')
    assert.is(paper(books, 'void').frozen.totalCents, TOTAL)
    assert.match(JSON.stringify(stateOf(books, { void: true, discountCents: 1 })?.verdict), /LOCKED_VOID/)
  })

  t('of a draft stalls with NOT_NUMBERED and takes no number', () => {
    const books = makeBooks()
    assert.match(stateOf(books, { void: true })?.verdict.message ?? '', /^NOT_NUMBERED: /)
    assert.is(books.observe().record, null)
  })
})

spec('a credit note', (t) => {
  t('of all mirrors the lines, has a number of its own register, and settles without a receipt', () => {
    const books = open({ discountCents: 20_000 })
    books.credit('cn-1', {})
    const state = stateOf(books, { discountCents: 20_000 })
    assert.equal([state?.phase, state?.paidCents, state?.creditedCents, state?.balanceCents], ['paid', 0, 120_000, 0])
    const { frozen, mail } = paper(books, 'cn-1')
    const invoice = paper(books, 'send:1').frozen
    assert.equal([frozen.number, frozen.kind, mail], ['CNINV-026-0001', 'credit_note', 'credited'])
    assert.equal([frozen.items, frozen.taxGroups, frozen.totalCents], [invoice.items, invoice.taxGroups, 120_000])
    assert.equal(told(books), ['sent', 'credit_noted'])
    const document = documentOf(frozen)
    assert.equal(
      [document.heading.title, document.due, document.stamps],
      ['Credit note', { label: 'Amount credited', value: '1,200.00 EUR' }, []],
    )
    assert.ok(document.facts.some(({ label, value }) => label === 'For invoice' && value === 'INV-026-0001'))
  })

  t('of an amount carries the tax of the invoice, to the cent', () => {
    const items = [
      { description: 'a', qty: '1', unitCents: 10_000, taxRateBp: 700 },
      { description: 'b', qty: '3', unitCents: 3_333, taxRateBp: 1900 },
      { description: 'c', qty: '1', unitCents: 500, taxRateBp: 0 },
    ]
    const books = open({ items })
    books.credit('cn-1', { amountCents: 7_777 })
    stateOf(books, { items })
    const { frozen } = paper(books, 'cn-1')
    assert.equal([frozen.totalCents, frozen.subtotalCents + frozen.taxCents], [7_777, 7_777])
    assert.equal(
      frozen.taxGroups.map(({ rateBp }) => rateBp),
      [0, 700, 1900],
    )
    for (const { baseCents, taxCents, rateBp } of frozen.taxGroups) {
      assert.ok(Math.abs(taxCents - (baseCents * rateBp) / 10_000) <= 1, `${baseCents} at ${rateBp}: ${taxCents}`)
    }
    assert.is(
      frozen.items.reduce((sum, { amountCents }) => sum + amountCents, 0),
      frozen.subtotalCents,
    )
  })

  t("of items is taxed as the invoice's", () => {
    const books = open()
    books.credit('cn-1', { items: [{ description: 'one day less', qty: '0.5', unitCents: 80_000 }] })
    assert.is(stateOf(books)?.creditedCents, 48_000)
    assert.equal(paper(books, 'cn-1').frozen.items[0]?.amountCents, 40_000)
  })

  const refused: [string, (books: Books) => void, Partial<InvoiceSpec>, string][] = [
    ['of more than is left', (books) => books.credit('x', { amountCents: TOTAL + 1 }), {}, 'CREDIT_EXCEEDS_REST'],
    ['with a refund', (books) => books.credit('x', { refund: true }), {}, 'NO_GATEWAY_PAYMENT'],
    ['of a voided one', (books) => books.credit('x', {}), { void: true }, 'LOCKED_VOID'],
    [
      'of items worth nothing',
      (books) => books.credit('x', { items: [{ description: 'x', qty: '0', unitCents: 1 }] }),
      {},
      'ZERO_TOTAL',
    ],
  ]
  for (const [name, does, changes, code] of refused) {
    t(`${name} is refused with ${code}`, () => {
      const books = open()
      does(books)
      stateOf(books, changes)
      assert.equal([refusals(books), books.numbers.size], [[code], 0])
    })
  }

  t('of a paid one leaves it paid, and what is owed back is what was paid beyond the rest', () => {
    const books = open()
    books.pay('a', null)
    books.credit('cn-1', { amountCents: 44_000 })
    books.credit('cn-2', { amountCents: 100_001 })
    const state = stateOf(books)
    assert.equal([state?.phase, state?.balanceCents, state?.creditedCents], ['paid', 0, 44_000])
    assert.equal(refusals(books), ['CREDIT_EXCEEDS_REST'])
  })

  t('of a part lowers what a payment may be, on the document of a later send too', () => {
    const books = open()
    books.credit('cn-1', { amountCents: 44_000 })
    books.pay('a', 100_001)
    books.send('s')
    assert.is(stateOf(books)?.balanceCents, 100_000)
    assert.equal(refusals(books), ['BAD_PAID_AMOUNT'])
    assert.is(balanceOf(paper(books, 'send:2').frozen), 100_000)
    assert.match(JSON.stringify(stateOf(books, { discountCents: 1 })?.verdict), /LOCKED_PARTIAL.*partly credited/)
  })
})

spec('sending again', (t) => {
  t('freezes and mails once more and tells it, as often as was asked, within the cap', () => {
    const books = open({}, { cap: 2 })
    for (const id of ['a', 'b', 'c']) books.send(id)
    stateOf(books)
    assert.equal([told(books), refusals(books)], [['sent', 'sent', 'sent'], ['SEND_CAP']])
    assert.equal(
      books.papers.map(({ id, mail }) => [id, mail]),
      [
        ['send:1', 'invoice'],
        ['send:2', 'invoice'],
        ['send:3', 'invoice'],
      ],
    )
  })

  t('of a paid one mails the receipt again', () => {
    const books = open()
    books.pay('a', null)
    books.send('b')
    stateOf(books)
    assert.equal([paper(books, 'send:2').mail, told(books)], ['receipt', ['sent', 'paid', 'sent']])
  })

  t('of a voided one is refused, and of a draft', () => {
    const books = open()
    books.send('a')
    stateOf(books, { void: true })
    const draft = makeBooks()
    draft.send('a')
    stateOf(draft, { send: false })
    assert.equal([refusals(books), refusals(draft)], [['LOCKED_VOID'], ['NOT_NUMBERED']])
  })
})

// ---- whatever comes, in whatever order, wherever the process dies

const move = fc.oneof(
  fc.record({ do: fc.constant('pay' as const), amount: fc.option(fc.integer({ min: 1, max: TOTAL + 10_000 })) }),
  fc.record({ do: fc.constant('credit' as const), amount: fc.option(fc.integer({ min: 1, max: TOTAL + 10_000 })) }),
  fc.record({ do: fc.constant('creditItems' as const), amount: fc.integer({ min: 1, max: 90_000 }) }),
  fc.record({ do: fc.constant('send' as const) }),
  fc.record({ do: fc.constant('void' as const) }),
  fc.record({ do: fc.constant('pass' as const), effects: fc.option(fc.nat(6)) }),
)
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never

const ask = (books: Books, id: string, request: Exclude<Move, { do: 'void' | 'pass' }>): boolean => {
  switch (request.do) {
    case 'pay':
      return books.pay(id, request.amount)
    case 'credit':
      return books.credit(id, request.amount === null ? {} : { amountCents: request.amount })
    case 'creditItems':
      return books.credit(id, { items: [{ description: 'x', qty: '1', unitCents: request.amount }] })
    case 'send':
      return books.send(id)
    default:
      return request satisfies never
  }
}

const play = (moves: readonly Move[], receiptCents: number | null) => {
  const paid = receiptCents === null ? {} : { paid: { method: 'cash', reference: '', amountCents: receiptCents } }
  const books = open(paid)
  let changes: Partial<InvoiceSpec> = paid
  for (const [index, one] of moves.entries()) {
    if (one.do === 'void') changes = { ...paid, void: true }
    else if (one.do === 'pass') books.pass(invoiceResource(changes), one.effects ?? undefined)
    else ask(books, String(index), one)
  }
  const end = books.pass(invoiceResource(changes))
  return { books, end, isVoid: changes.void === true }
}

/** Everything that must hold of books at rest. */
const balances = ({ books, end, isVoid }: ReturnType<typeof play>) => {
  const { payments, credits, requests, snapshots } = recordedOf(books.facts)
  assert.is(end?.verdict.state, 'ready')
  assert.equal(requests, [], 'all is decided')
  const all = booksOf(TOTAL, { payments, credits })
  assert.ok(all.creditedCents <= TOTAL && all.paidCents <= TOTAL, JSON.stringify(all))
  // in the order of their recording no move overdraws what the ones before have left
  for (const [n, { seq }] of [...payments, ...credits].entries()) {
    const before = <M extends { seq: number }>(moves: readonly M[]) => moves.filter((one) => one.seq < seq)
    const left = booksOf(TOTAL, { payments: before(payments), credits: before(credits) })
    const moved = [...payments, ...credits][n]?.amountCents ?? 0
    const isPayment = n < payments.length
    assert.ok(
      moved >= 1 && moved <= (isPayment ? dueCents(left) : creditableCents(left)),
      `${moved} of ${JSON.stringify(left)}`,
    )
  }
  assert.equal([end?.status.paidCents, end?.status.creditedCents], [all.paidCents, all.creditedCents])
  assert.is(end?.status.balanceCents, isVoid ? 0 : dueCents(all))
  // each credit has one number and one document over exactly its amount
  assert.equal(books.numbers.size, credits.length)
  for (const { id, amountCents } of credits) assert.is(paper(books, id).frozen.totalCents, amountCents)
  assert.is(new Set(snapshots.map(({ id }) => id)).size, snapshots.length)
  // what was told is what happened, once each
  const count = (type: string) => told(books).filter((one) => one === type).length
  assert.is(count('credit_noted'), credits.length)
  assert.is(count('voided'), isVoid ? 1 : 0)
  assert.ok(count('paid') <= (dueCents(all) === 0 ? 1 : 0))
  assert.is(
    count('sent') + (payments[0]?.amountCents === TOTAL && payments[0]?.id === 'receipt' ? 1 : 0),
    books.papers.filter(({ kind }) => kind === 'send').length,
  )
}

spec('the books of an invoice', (t) => {
  const story = fc.tuple(fc.array(move, { maxLength: 30 }), fc.option(fc.integer({ min: 1, max: TOTAL })))

  t('balance whatever is asked, in whatever order, and wherever the process dies', () => {
    fc.assert(
      fc.property(story, ([moves, receipt]) => balances(play(moves, receipt))),
      { numRuns: 400 },
    )
  })

  t('come out the same however often the process dies', () => {
    fc.assert(
      fc.property(story, fc.integer({ min: 1, max: 3 }), ([moves, receipt], effects) => {
        // the same requests, decided in one pass by one process, and by many that die
        const requests = moves.filter((one) => one.do !== 'pass' && one.do !== 'void')
        const whole = play(requests, receipt)
        const dying: Move = { do: 'pass', effects }
        const torn = play([...requests, ...Array.from({ length: 20 }, () => dying)], receipt)
        assert.equal(torn.end?.status, whole.end?.status)
        assert.equal(refusals(torn.books), refusals(whole.books))
        assert.equal(
          torn.books.papers.map(({ frozen }) => frozen),
          whole.books.papers.map(({ frozen }) => frozen),
        )
        assert.equal(
          torn.books.events().toSorted((a, b) => (a.type < b.type ? -1 : 1)),
          whole.books.events().toSorted((a, b) => (a.type < b.type ? -1 : 1)),
        )
      }),
      { numRuns: 200 },
    )
  })

  t('are read the same in whatever order the facts come', () => {
    fc.assert(
      fc.property(story, fc.infiniteStream(fc.double({ noNaN: true })), ([moves, receipt], keys) => {
        const { facts } = play(moves, receipt).books
        const shuffled = facts.map((fact) => ({ fact, key: keys.next().value })).toSorted((a, b) => a.key - b.key)
        assert.equal(recordedOf(shuffled.map(({ fact }) => fact)), recordedOf(facts))
      }),
      { numRuns: 100 },
    )
  })
})
