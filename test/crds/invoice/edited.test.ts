/**
 * An invoice that was edited after it was sent: what is owed is what was sent, until it is sent again
 * (rules/invoice.md#edits-of-what-was-sent).
 */
import fc from 'fast-check'
import { invoicePage } from '../../../api/invoice/page/render.ts'
import { documentOf } from '../../../crds/invoice/document/document.ts'
import { newestSend } from '../../../crds/invoice/facts/ledger.ts'
import { booksOf, dueCents } from '../../../crds/invoice/money/books.ts'
import { LANGS } from '../../../crds/invoice/order/frozen.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { explain } from '../../../crds/invoice/rest/explain.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../crds/invoice/view.ts'
import { frozenInvoice } from '../../support/builders/frozen.ts'
import {
  invoiceResource,
  invoiceSpec,
  issuer,
  NOW,
  planNoted,
  record,
  sent,
  sentWorld,
} from '../../support/builders/invoice.ts'
import { type CardBooks, makeCardBooks, rest } from '../../support/doubles/cardbooks.ts'
import { makeBooks } from '../../support/doubles/invoicebooks.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TOTAL = 144_000
/** 7.5 × 800.00 + 20 % = 7,200.00 EUR. */
const EDIT: Partial<InvoiceSpec> = { items: [{ description: 'Retainers', qty: '7.5', unitCents: 80_000 }] }
const EDITED = 720_000

const units = (books: CardBooks) => [...books.open.values()].map((one) => one.units)
const viewOf = (books: Pick<CardBooks, 'observe'>, changes: Partial<InvoiceSpec>) => {
  const around = books.observe()
  const object = invoiceResource(changes)
  return viewInvoice(object, around, planInvoice(object, around, NOW).status)
}
const aboutEdit = ({ warnings }: { warnings: string[] }) => warnings.filter((one) => /edit/i.test(one))
const paper = ({ papers }: Pick<CardBooks, 'papers'>, id: string) => {
  const found = papers.find((one) => one.id === id)
  if (!found) throw new Error(`no ${id} in ${papers.map((one) => one.id)}`)
  return found
}

spec('an edit that was not sent', (t) => {
  t('leaves the checkout, the balance and the total at what was sent', () => {
    const books = makeCardBooks()
    books.edit(EDIT)
    books.request('a')
    const plan = rest(books)
    assert.equal(units(books), [TOTAL])
    assert.equal([plan?.status.totalCents, plan?.status.balanceCents, plan?.verdict.state], [TOTAL, TOTAL, 'ready'])
  })

  t(
    'keeps a checkout open that asks for what was sent; the next send ends it, and the next one asks for the edit',
    () => {
      const books = makeCardBooks()
      books.request('a')
      rest(books)
      books.edit(EDIT)
      rest(books)
      assert.equal(units(books), [TOTAL])
      books.send('again')
      rest(books)
      assert.equal(units(books), [])
      books.request('b')
      const plan = rest(books)
      assert.equal([units(books), plan?.status.totalCents], [[EDITED], EDITED])
      assert.is(paper(books, 'send:2').frozen.totalCents, EDITED)
    },
  )

  t('is paid by what was sent: PAID and the receipt are of the document that the client has', () => {
    const books = makeCardBooks()
    books.request('a')
    rest(books)
    books.edit(EDIT)
    books.settle([...books.open.keys()][0] ?? '')
    const plan = rest(books)
    assert.equal(
      [plan?.status.phase, plan?.status.paidCents, plan?.status.balanceCents, plan?.verdict.state],
      ['paid', TOTAL, 0, 'ready'],
    )
    const { frozen, mail } = paper(books, 'paid')
    assert.equal([frozen.items, frozen.totalCents, mail], [paper(books, 'send:1').frozen.items, TOTAL, 'receipt'])
  })

  t('takes a payment without an amount for what was sent, and none above it', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    books.pay('a', TOTAL + 1)
    books.pay('b', null)
    const plan = books.pass(invoiceResource(EDIT))
    assert.equal(
      books.facts.flatMap(({ refusedCode }) => refusedCode ?? []),
      ['BAD_PAID_AMOUNT'],
    )
    assert.equal([plan?.status.phase, plan?.status.paidCents], ['paid', TOTAL])
  })

  t('that breaks a rule keeps nothing from being paid', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    assert.match(books.pass(invoiceResource({ items: [] }))?.verdict.message ?? '', /^NO_ITEMS/)
    books.pay('a', null)
    const plan = books.pass(invoiceResource({ items: [] }))
    assert.equal([plan?.status.phase, plan?.verdict.state, paper(books, 'paid').mail], ['paid', 'ready', 'receipt'])
    const cards = makeCardBooks()
    cards.edit({ items: [] })
    cards.request('a')
    assert.match(rest(cards)?.verdict.message ?? '', /^NO_ITEMS/)
    assert.equal(units(cards), [TOTAL])
  })

  t('has no effect once money came in, on a later send neither, and its owner reads so', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    books.pay('a', 44_000)
    books.pass(invoiceResource(EDIT))
    books.send('again')
    const plan = books.pass(invoiceResource(EDIT))
    assert.equal([plan?.verdict.state, plan?.status.balanceCents], ['ready', 100_000])
    const again = paper(books, 'send:2').frozen
    assert.equal([again.totalCents, again.items], [TOTAL, paper(books, 'send:1').frozen.items])
    assert.match(aboutEdit(viewOf(books, EDIT)).join(), /no effect.*1,440\.00 EUR/)
    assert.is(books.pass(invoiceResource())?.verdict.state, 'ready', 'put back')
    assert.match(books.pass(invoiceResource({ discountCents: 1 }))?.verdict.message ?? '', /^LOCKED_PARTIAL/)
  })

  t('is not what a credit note credits, nor what is stamped VOID', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    books.credit('cn-1', {})
    books.pass(invoiceResource(EDIT))
    assert.equal([paper(books, 'cn-1').frozen.totalCents, paper(books, 'cn-1').frozen.items[0]?.qty], [TOTAL, '1.5'])
    const other = makeBooks()
    other.pass(invoiceResource())
    const plan = other.pass(invoiceResource({ ...EDIT, void: true }))
    assert.equal([plan?.verdict.state, plan?.status.totalCents], ['ready', TOTAL])
    assert.is(paper(other, 'void').frozen.totalCents, TOTAL)
    assert.is(other.pass(invoiceResource({ ...EDIT, void: true }))?.verdict.state, 'ready', 'and rests')
  })

  t('is told to its owner, beside the totals of what was sent', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    books.pass(invoiceResource(EDIT))
    const view = viewOf(books, EDIT)
    assert.equal([view.total_cents, view.balance_cents, view.items[0]?.qty], [TOTAL, TOTAL, 7.5])
    assert.match(aboutEdit(view).join(), /7,200\.00 EUR.*1,440\.00 EUR.*send/)
    assert.equal(aboutEdit(viewOf(books, { terms: 'soon' })), [], 'what changes nothing that is owed')
    books.send('again')
    books.pass(invoiceResource(EDIT))
    assert.equal([aboutEdit(viewOf(books, EDIT)), viewOf(books, EDIT).total_cents], [[], EDITED])
  })

  t('does not stand in what is explained: that leads to what is owed', () => {
    const books = makeBooks()
    books.pass(invoiceResource())
    const explanation = explain(viewOf(books, EDIT), paper(books, 'send:1').frozen)
    assert.equal([explanation.total_cents, explanation.balance_cents], [TOTAL, TOTAL])
    assert.is(explanation.steps.find(({ step }) => step === 'line')?.amount_cents, 120_000)
  })

  t('is said on the page, in its four languages, while it may still be sent', () => {
    const facts = {
      frozen: frozenInvoice(),
      paidCents: 0,
      balanceCents: TOTAL,
      path: '/i/t',
      url: 'https://pay.test/i/t',
    }
    const seen = LANGS.map((lang) => {
      const plain = invoicePage({ ...facts, lang, status: 'sent' })
      const changed = [{ pointer: '/terms', from: null, to: 'soon' }]
      const edited = invoicePage({ ...facts, lang, status: 'sent', revision: { changed, totalCents: EDITED } })
      assert.match(edited, /<li><bdi>[^<]+: 1,440\.00 EUR → 7,200\.00 EUR<\/bdi><\/li>/)
      assert.not(/class="edited/.test(plain))
      return /<p class="note edited" role="note">([^<]+)<\/p>/.exec(edited)?.[1] ?? ''
    })
    assert.is(new Set(seen).size, LANGS.length)
    for (const words of seen) assert.ok(words.length > 10)
    assert.match(seen[0] ?? '', /edited.*new version/)
  })
})

// ---- whatever is edited, sent, paid and voided, in whatever order, and wherever the process dies

const move = fc.oneof(
  fc.record({ do: fc.constant('edit' as const), discountCents: fc.constantFrom(0, 10_000, 20_000, 120_000) }),
  fc.record({
    do: fc.constantFrom('send', 'request', 'answer', 'card', 'pay', 'credit', 'void'),
    part: fc.nat(150_000),
  }),
  fc.record({ do: fc.constant('pass' as const), effects: fc.option(fc.nat(6)) }),
)
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never

/** An edit is taken as REST and the policies take it: of what is neither paid, credited nor voided by the last look. */
const isLocked = ({ observe }: Pick<CardBooks, 'observe'>): boolean => {
  const { payments, credits, snapshots } = observe()
  return payments.length + credits.length + snapshots.length > 0
}

const DOES: Record<string, (books: CardBooks, id: string, part: number) => unknown> = {
  send: (books, id) => books.send(id),
  request: (books, id) => books.request(id),
  answer: (books) => books.answer(),
  pay: (books, id, part) => books.pay(id, part || null),
  credit: (books, id, part) => books.credit(id, part ? { amountCents: part } : {}),
  card: (books) => books.open.size > 0 && books.settle([...books.open.keys()][0] ?? ''),
  void: (books) => books.edit({ void: true }),
}

const play = (moves: readonly Move[]): { books: CardBooks; isVoid: boolean } => {
  const books = makeCardBooks()
  books.pass()
  let isVoid = false
  for (const [index, one] of moves.entries()) {
    if (one.do === 'pass') books.pass('effects' in one ? (one.effects ?? undefined) : undefined)
    else if ('discountCents' in one) {
      if (!isVoid && !isLocked(books)) books.edit({ discountCents: one.discountCents })
    } else if ('part' in one) DOES[one.do]?.(books, String(index), one.part)
    isVoid ||= one.do === 'void'
  }
  return { books, isVoid }
}

/** The register comes to what was sent, credited and voided. */
const entriesHold = ({ entries, observe }: CardBooks): void => {
  const { sends, credits, snapshots } = observe()
  const of = (...words: string[]) => entries.filter(({ entry }) => words.includes(entry))
  assert.is(of('issued', 'amended').at(-1)?.totalCents, newestSend(sends)?.frozen.totalCents)
  const noted = credits.filter(({ id }) => snapshots.some((one) => one.id === id))
  assert.equal(
    of('credited').map(({ totalCents }) => totalCents),
    noted.map(({ amountCents }) => amountCents),
  )
  assert.is(of('voided').length, snapshots.filter(({ kind }) => kind === 'void').length)
}

/** PAID and VOID stand on what was sent by then. */
const stampsHold = ({ papers, observe }: CardBooks): void => {
  const { snapshots, sends } = observe()
  for (const { id, frozen, kind } of papers.filter((one) => one.kind === 'paid' || one.kind === 'void')) {
    const { afterSends } = snapshots.find((one) => one.id === id) ?? { afterSends: 0 }
    assert.is(frozen.totalCents, sends[afterSends - 1]?.frozen?.totalCents, kind)
  }
}

spec('the books of an invoice that is edited', (t) => {
  t('are those of what was sent last, and no checkout asks for anything else', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
        const { books, isVoid } = play(moves)
        const end = rest(books)
        const around = books.observe()
        const sentCents = around.sends.at(-1)?.frozen?.totalCents ?? 0
        // the one rule that an edit can break here: a discount of everything cannot be sent
        const isBroken = end?.verdict.state === 'stalled' && end.verdict.code === 'ZERO_TOTAL'
        assert.ok(end?.verdict.state === 'ready' || isBroken, JSON.stringify(end?.verdict))
        const due = dueCents(booksOf(sentCents, around))
        assert.equal([end?.status.totalCents, end?.status.balanceCents], [sentCents, isVoid ? 0 : due])
        if (!isBroken)
          assert.ok(
            units(books).every((one) => one === due && !isVoid),
            `${units(books)} of ${due}`,
          )
        stampsHold(books)
        entriesHold(books)
      }),
      { numRuns: 500 },
    )
  })
})

spec('with its number', (t) => {
  const drifts: [string, Partial<InvoiceSpec>, string][] = [
    ['the currency', { currency: 'GBP' }, '/currency'],
    ['the issuer', { issuerId: 'iss-2' }, '/issuerId'],
    ['test mode', { test: true }, '/test'],
  ]
  for (const [name, changes, pointer] of drifts) {
    t(`${name} is fixed: an edit stalls, and nothing of what was sent changes`, () => {
      const around = sentWorld(invoiceSpec(), { issuer: issuer({ id: changes.issuerId ?? 'iss-default' }) })
      const before = planNoted(invoiceResource(), sentWorld(), NOW).status
      const plan = planNoted(invoiceResource(changes), around, NOW)
      assert.match(plan.verdict.message, new RegExp(`^(LOCKED_NUMBERED|TEST_IMMUTABLE): ${pointer} .*INV-026-0001`))
      assert.equal([plan.steps, plan.status], [[], before])
    })

    t(`${name} is fixed before it is frozen too: the number was taken between the look and the write`, () => {
      const around = { ...sentWorld(), sends: [], issuer: issuer({ id: changes.issuerId ?? 'iss-default' }) }
      const plan = planNoted(invoiceResource(changes), around, NOW)
      assert.match(plan.verdict.message, new RegExp(`^(LOCKED_NUMBERED|TEST_IMMUTABLE): ${pointer} `))
      assert.equal([plan.steps, plan.status.currency, plan.status.total], [[], 'EUR', '1,440.00 EUR'])
      const view = viewInvoice(invoiceResource(changes), around, plan.status)
      assert.equal([view.currency, view.issuer_id], ['EUR', 'iss-default'])
    })
  }

  t('nothing of that is asked of a draft', () => {
    assert.is(
      planNoted(invoiceResource({ send: false, currency: 'GBP' }), { ...sentWorld(), record: null, sends: [] }, NOW)
        .verdict.state,
      'ready',
    )
  })
})

spec('what was sent in amounts that its currency does not have, before that was refused', (t) => {
  // 12,345 yen and 10 % of it, which was 1,234.50
  const yen = { currency: 'JPY', taxRateBp: 1000, items: [{ description: 'a', qty: '1', unitCents: 1_234_500 }] }
  const asked = invoiceSpec(yen)
  const old = sent(asked)
  const frozen = {
    ...old.frozen,
    taxGroups: [{ rateBp: 1000, baseCents: 1_234_500, taxCents: 123_450 }],
    taxCents: 123_450,
    totalCents: 1_357_950,
  }
  const claimed = { ...record(asked).claimed, totalCents: 1_357_950 }
  const around = sentWorld(asked, { sends: [{ ...old, frozen }], record: record(asked, { claimed }) })

  t('is no edit: it stays as it was sent', () => {
    const plan = planNoted(invoiceResource(yen), around, NOW)
    assert.equal([plan.verdict.state, plan.status.balanceCents], ['ready', 1_357_950])
    const view = viewInvoice(invoiceResource(yen), around, plan.status)
    assert.equal([view.total_cents, aboutEdit(view)], [1_357_950, []])
    assert.is(documentOf(frozen).due.value, '13,579.50 JPY')
  })

  t('is no edit once it is paid either', () => {
    const { claimed: order } = record(asked, { claimed })
    const payments = [
      {
        id: 'p',
        seq: 1,
        amountCents: 1_357_950,
        method: 'x',
        reference: '',
        declaredBy: 'owner' as const,
        receivedAt: NOW.toISOString(),
      },
    ]
    const plan = planNoted(invoiceResource(yen), { ...around, order, payments }, NOW)
    assert.equal([plan.status.phase, plan.steps[0]?.do], ['paid', 'stamp'])
  })
})
