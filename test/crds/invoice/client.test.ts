/** The recipient's whereabouts and the ground of an untaxed invoice: from the spec to every document. */

import { documentOf } from '../../../crds/invoice/document/document.ts'
import { groundOf, modelOf } from '../../../crds/invoice/document/einvoice/model.ts'
import { findingsOf } from '../../../crds/invoice/document/einvoice/write.ts'
import { draftOf } from '../../../crds/invoice/document/freeze.ts'
import { faultsOf } from '../../../crds/invoice/faults.ts'
import { LANGS } from '../../../crds/invoice/order/frozen.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { frozenInvoice, frozenItem } from '../../support/builders/frozen.ts'
import { invoiceSpec, issuer } from '../../support/builders/invoice.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const placed: Partial<InvoiceSpec> = {
  clientAddress: 'Torstraße 1\nHinterhaus',
  clientCity: 'Berlin',
  clientPostcode: '10115',
  clientCountry: 'DE',
  clientTaxId: 'DE123456789',
}
const now = new Date('2026-11-21T12:00:00Z')
const free = frozenInvoice({
  items: [frozenItem({ taxRateBp: 0 })],
  taxGroups: [{ rateBp: 0, baseCents: 120_000, taxCents: 0 }],
  taxCents: 0,
  totalCents: 120_000,
})

spec("the recipient's whereabouts", (t) => {
  t('are frozen, and stand on the document and in the electronic invoice', () => {
    const draft = draftOf(invoiceSpec(placed), issuer(), now)
    const { buyer } = modelOf({ ...draft, number: 'INV-026-0001' })
    assert.equal(
      [buyer.lines, buyer.city, buyer.postcode, buyer.country, buyer.vatId],
      [['Torstraße 1', 'Hinterhaus'], 'Berlin', '10115', 'DE', 'DE123456789'],
    )
    const { lines } = documentOf(draft).client
    assert.equal(lines.slice(0, 5), ['Torstraße 1', 'Hinterhaus', '10115 Berlin', 'DE', 'Tax ID DE123456789'])
  })

  t('name the city once, when the address has it already', () => {
    const draft = draftOf(invoiceSpec({ ...placed, clientAddress: 'Torstraße 1\n10115 Berlin' }), issuer(), now)
    assert.equal(documentOf(draft).client.lines.slice(0, 3), ['Torstraße 1', '10115 Berlin', 'DE'])
  })

  t('may be left out, and then the electronic invoice says which rule asks for them', () => {
    const draft = draftOf(invoiceSpec(), issuer(), now)
    const rules = findingsOf(modelOf({ ...draft, number: 'INV-026-0001' })).map(({ rule }) => rule)
    assert.ok(rules.includes('BR-11'), rules.join())
  })

  const bad: [string, Partial<InvoiceSpec>, string][] = [
    ['a country that is none', { clientCountry: 'UK' }, '/clientCountry'],
    ['a city of two lines', { clientCity: 'a\nb' }, '/clientCity'],
    ['a turned postcode', { clientPostcode: '\u202e1' }, '/clientPostcode'],
    ['a control character in the address', { clientAddress: 'a\u0000b' }, '/clientAddress'],
    ['a control character in the tax number', { clientTaxId: 'a\u0000b' }, '/clientTaxId'],
    ['a ground of two lines', { zeroRate: { category: 'E', reason: 'a\nb' } }, '/zeroRate/reason'],
  ]
  for (const [what, change, pointer] of bad) {
    t(`are refused with ${what}`, () => {
      assert.equal(
        faultsOf(invoiceSpec(change)).map((fault) => fault.pointer),
        [pointer],
      )
    })
  }
})

spec('the ground for charging nothing', (t) => {
  for (const lang of LANGS) {
    t(`is the same on the document and in the electronic invoice, in ${lang}`, () => {
      const frozen = { ...free, lang, zeroRate: { category: 'AE' as const, reason: '' } }
      const [tax] = modelOf(frozen).taxes
      const said = groundOf(frozen.zeroRate, lang)
      assert.is(tax?.reason, said)
      assert.ok(said !== '' && documentOf(frozen).sums.some(({ label }) => label.includes(said)))
    })
  }

  t('is in the words of the owner, where they gave some', () => {
    const frozen = { ...free, zeroRate: { category: 'E' as const, reason: 'Article 132' } }
    assert.ok(documentOf(frozen).sums.some(({ label }) => label === 'Tax 0% on 1,200.00 EUR (Article 132)'))
    assert.is(modelOf(frozen).taxes[0]?.reason, 'Article 132')
  })

  t('is not looked for where none was given, or all is taxed', () => {
    assert.is(documentOf(free).sums.length, 2)
    assert.is(documentOf(frozenInvoice({ zeroRate: { category: 'AE', reason: '' } })).sums.length, 3)
  })
})
