import fc from 'fast-check'
import { balanceOf, displayRate, documentOf } from '../../../../crds/invoice/document/document.ts'
import { dateWords, fill, WORDS } from '../../../../crds/invoice/document/words/words.ts'
import { LANGS } from '../../../../crds/invoice/order/frozen.ts'
import { displayCents } from '../../../../crds/values/money.ts'
import { anyFrozen, frozenInvoice, frozenItem, paidInFull } from '../../../support/builders/frozen.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const placesOf = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort()

spec('the words of a document', (t) => {
  t('have the same keys in all languages, and none is empty', () => {
    const keys = Object.keys(WORDS.en).sort()
    for (const lang of LANGS) {
      assert.equal(Object.keys(WORDS[lang]).sort(), keys, lang)
      for (const [key, text] of Object.entries(WORDS[lang])) assert.ok(text.trim() !== '', `${lang}.${key}`)
    }
  })

  t('have the same places in all languages', () => {
    for (const lang of LANGS) {
      for (const [key, text] of Object.entries(WORDS.en)) {
        const other = Object.entries(WORDS[lang]).find(([name]) => name === key)?.[1] ?? ''
        assert.equal(placesOf(other), placesOf(text), `${lang}.${key}`)
      }
    }
  })

  t('take a value as it is, even one that looks like a place', () => {
    assert.is(fill('{a} and {b}', { a: '{b}', b: '$&' }), '{b} and $&')
    assert.is(fill('{a} {unknown}', { a: '1' }), '1 {unknown}')
  })

  const dates: [(typeof LANGS)[number], string][] = [
    ['en', '5 March 2026'],
    ['es', '5 de marzo de 2026'],
    ['zh-Hant', '2026年3月5日'],
    ['zh-Hans', '2026年3月5日'],
  ]
  for (const [lang, text] of dates)
    t(`write a date in ${lang} as ${text}`, () => assert.is(dateWords(lang, '2026-03-05'), text))
})

spec('the document of an invoice', (t) => {
  const rates: [number, string][] = [
    [0, '0%'],
    [5, '0.05%'],
    [700, '7%'],
    [1000, '10%'],
    [1950, '19.5%'],
    [10_000, '100%'],
  ]
  for (const [rateBp, text] of rates)
    t(`shows ${rateBp} basis points as ${text}`, () => assert.is(displayRate(rateBp), text))

  t('shows what is due, from when, until when, and what for', () => {
    const document = documentOf(frozenInvoice())
    assert.equal(document.heading, { title: 'Invoice', number: 'INV-026-0001' })
    assert.equal(document.due, { label: 'Amount due', value: '1,440.00 EUR' })
    assert.equal(document.facts, [
      { label: 'Issued', value: '21 November 2026' },
      { label: 'Due', value: '20 December 2026' },
    ])
    assert.equal(document.items.rows, [['October retainer', '1.5', '800.00', '20%', '1,200.00']])
    assert.is(document.items.columns.at(-1)?.label, 'Amount (EUR)')
    assert.equal(document.seller.lines, ['Calle Mayor 1', '28001 Madrid', 'Tax ID ESB00000000', 'owner@demo.test'])
    assert.equal(document.stamps, [])
  })

  t('sums up to the total, discount before tax', () => {
    const sums = documentOf(
      frozenInvoice({
        discountCents: 20_000,
        taxGroups: [
          { rateBp: 0, baseCents: 0, taxCents: 0 },
          { rateBp: 2000, baseCents: 100_000, taxCents: 20_000 },
        ],
        totalCents: 120_000,
      }),
    ).sums
    assert.equal(
      sums.map(({ label, value }) => `${label}: ${value}`),
      ['Subtotal: 1,200.00 EUR', 'Discount: -200.00 EUR', 'Tax 20% on 1,000.00 EUR: 200.00 EUR', 'Total: 1,200.00 EUR'],
    )
  })

  t('shows no column of tax when nothing is taxed', () => {
    const { items } = documentOf(frozenInvoice({ items: [frozenItem({ taxRateBp: 0 })] }))
    assert.equal(
      items.columns.map(({ id }) => id),
      ['description', 'qty', 'unit', 'amount'],
    )
    assert.equal(items.rows, [['October retainer', '1.5', '800.00', '1,200.00']])
  })

  t('is stamped PAID only when all is paid, and says what is left when a part is', () => {
    const full = documentOf(frozenInvoice({ paid: paidInFull }))
    assert.equal(
      full.stamps.map(({ stamp }) => stamp),
      ['PAID'],
    )
    assert.is(full.payment?.text, '1,440.00 EUR received on 22 November 2026')
    assert.equal(
      full.payment?.facts.map(({ value }) => value),
      ['Bank transfer', 'SEPA-42'],
    )
    const part = documentOf(frozenInvoice({ paid: { ...paidInFull, amountCents: 40_000 } }))
    assert.equal(part.stamps, [])
    assert.is(part.due.value, '1,040.00 EUR')
    assert.equal(
      part.sums.slice(-2).map(({ value }) => value),
      ['-400.00 EUR', '1,040.00 EUR'],
    )
  })

  t('is stamped TEST in test mode, and DRAFT without a number', () => {
    assert.equal(
      documentOf(frozenInvoice({ test: true })).stamps.map(({ stamp }) => stamp),
      ['TEST'],
    )
    const draft = documentOf({ ...frozenInvoice(), number: null })
    assert.equal(
      draft.stamps.map(({ stamp }) => stamp),
      ['DRAFT'],
    )
    assert.is(draft.heading.number, '')
  })

  t('leaves out what was not given', () => {
    const document = documentOf(
      frozenInvoice({
        dueDate: null,
        terms: ' \n',
        client: { name: '', email: '' },
        seller: { legalName: 'S', taxId: '', address: '\n\n', email: '', footer: '' },
      }),
    )
    assert.equal(
      document.facts.map(({ label }) => label),
      ['Issued'],
    )
    assert.is(document.terms, null)
    assert.equal(document.seller.lines, [])
    assert.equal(document.client.lines, [])
  })

  t('adds up for every invoice: total less paid is what is due', () => {
    fc.assert(
      fc.property(anyFrozen, (frozen) => {
        const { due, sums } = documentOf(frozen)
        const strong = sums.filter((sum) => sum.strong)
        assert.is(strong.at(-1)?.value, due.value)
        assert.is(due.value, displayCents(balanceOf(frozen), frozen.currency))
        assert.is(strong[0]?.value, displayCents(frozen.totalCents, frozen.currency))
      }),
      { numRuns: 200 },
    )
  })
})
