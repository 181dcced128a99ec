/** What stands on the client's page beside the document: payment codes, amounts as people write them, the seam for Pay now. */
import fc from 'fast-check'
import jsQR from 'jsqr'
import { type Collect, payBlock } from '../../../../api/invoice/page/render.ts'
import { PAGE_WORDS } from '../../../../api/invoice/page/words.ts'
import { epcText, type Transfer } from '../../../../crds/invoice/document/epc.ts'
import { centsOfText, textOfCents } from '../../../../crds/invoice/money/claim.ts'
import { LANGS } from '../../../../crds/invoice/order/frozen.ts'
import { displayIban, isIban } from '../../../../crds/invoice/order/iban.ts'
import { textOf } from '../../../../crds/text/html.ts'
import { qrModules } from '../../../../crds/text/qr.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const IBAN = 'ES9121000418450200051332'
const transfer = (changes: Partial<Transfer> = {}): Transfer => ({
  name: 'Demo Studio SL',
  iban: 'ES91 2100 0418 4502 0005 1332',
  currency: 'EUR',
  amountCents: 144_000,
  remittance: 'INV-026-0001',
  ...changes,
})

/** Each module as so many pixels, read by another author's reader. */
const PIXELS = 4
const read = (rows: readonly boolean[][]): string | undefined => {
  const size = rows.length * PIXELS
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255)
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (rows[Math.floor(y / PIXELS)]?.[Math.floor(x / PIXELS)])
        pixels.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3)
    }
  }
  return jsQR.default(pixels, size, size)?.data
}

spec('the payment code', (t) => {
  t('holds the fields of EPC069-12 in their order', () => {
    assert.equal(epcText(transfer())?.split('\n'), [
      'BCD',
      '002',
      '1',
      'SCT',
      '',
      'Demo Studio SL',
      IBAN,
      'EUR1440.00',
      '',
      '',
      'INV-026-0001',
    ])
    assert.match(epcText(transfer({ amountCents: 7 })) ?? '', /^EUR0\.07$/m)
  })

  const none: [string, Partial<Transfer>][] = [
    ['another currency', { currency: 'USD' }],
    ['an account number with a slip of the pen', { iban: 'ES9121000418450200051333' }],
    ['no account number', { iban: '' }],
    ['nothing due', { amountCents: 0 }],
    ['more than a transfer can carry', { amountCents: 100_000_000_000 }],
    ['nobody to pay', { name: ' \u0000 ' }],
  ]
  for (const [name, changes] of none) t(`is none for ${name}`, () => assert.is(epcText(transfer(changes)), null))

  t('cannot be broken out of by what a seller is called', () => {
    const fields = epcText(transfer({ name: 'Evil\r\nDE89370400440532013000\nEUR1.00\u2028x' }))?.split('\n')
    assert.equal([fields?.length, fields?.[5], fields?.[6]], [11, 'Evil DE89370400440532013000 EUR1.00 x', IBAN])
  })

  t('fits into what banking apps read, whatever the texts, and is read back as it was written', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 }),
        fc.integer({ min: 1, max: 99_999_999_999 }),
        (name, amountCents) => {
          const text = epcText(transfer({ name, amountCents }))
          if (text === null) return
          assert.ok(new TextEncoder().encode(text).length <= 331)
          const rows = qrModules(text, 'medium')
          // version 13 has 69 modules a side, and the quiet zone 4 on each
          assert.ok(rows.length <= 69 + 8)
        },
      ),
      { numRuns: 100 },
    )
    for (const name of ['Demo Studio SL', 'Café Núñez & Söhne', '示範工作室']) {
      const text = epcText(transfer({ name })) ?? ''
      assert.is(read(qrModules(text, 'medium')), text)
    }
  })
})

spec('an account number', (t) => {
  t('is one when its check digits fit', () => {
    for (const good of [IBAN, 'DE89370400440532013000', 'GB29NWBK60161331926819', 'MT84MALT011000012345MTLCAST001S'])
      assert.ok(isIban(good), good)
    for (const bad of ['DE89370400440532013001', 'DE8937040044053201300', 'de89370400440532013000', '', 'XX'])
      assert.not.ok(isIban(bad), bad)
  })

  t('is shown in groups of four', () => assert.is(displayIban(IBAN), 'ES91 2100 0418 4502 0005 1332'))
})

spec('an amount that somebody types', (t) => {
  const typed: [string, number | null][] = [
    ['1440', 144_000],
    ['1440.5', 144_050],
    ['1440,50', 144_050],
    ['1,440.00', 144_000],
    ['1.440,00', 144_000],
    ['1,440', 144_000],
    ['1 440,00', 144_000],
    ['12,345,678.9', 1_234_567_890],
    ['0.01', 1],
    ['', null],
    ['-1', null],
    ['1.2.3', null],
    ['1,44.00', null],
    ['1e3', null],
    ['1.001,5,1', null],
    ['12345678901234', null],
  ]
  for (const [text, cents] of typed) t(`${JSON.stringify(text)} is ${cents}`, () => assert.is(centsOfText(text), cents))

  t('comes back as it was filled in', () => {
    const any = fc.integer({ min: 0, max: 100_000_000_000_000 })
    const currency = fc.constantFrom('EUR', 'JPY', 'KWD')
    fc.assert(fc.property(any, currency, (cents, code) => assert.is(centsOfText(textOfCents(cents, code)), cents)))
    assert.equal([textOfCents(50_000, 'JPY'), textOfCents(50_000, 'EUR')], ['500', '500.00'])
  })
})

spec('Pay now', (t) => {
  const block = (collect: Collect) => textOf(payBlock(collect, { lang: 'en', amount: '1,440.00 EUR' }))
  t('is a form that posts to where the payment begins, and says the amount', () => {
    assert.match(
      block({ state: 'ready', path: '/i/token/pay' }),
      /<form class="pay" method="post" action="\/i\/token\/pay">/,
    )
    assert.match(block({ state: 'ready', path: '/i/token/pay' }), /<button type="submit">Pay 1,440\.00 EUR now</)
    assert.match(block({ state: 'ready', path: 'javascript:alert(1)' }), /action="#"/)
  })

  t('is nothing to press while the processor is still to be heard, or cannot be reached', () => {
    for (const state of ['waiting', 'away'] as const) assert.not.match(block({ state }), /<form|<button/)
  })
})

spec('the words of the page', (t) => {
  const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort()
  for (const lang of LANGS) {
    t(`are all there and hold the same places: ${lang}`, () => {
      assert.equal(Object.keys(PAGE_WORDS[lang]), Object.keys(PAGE_WORDS.en))
      for (const [name, text] of Object.entries(PAGE_WORDS[lang])) {
        assert.ok(text.trim() !== '', name)
        assert.equal(places(text), places(PAGE_WORDS.en[name as keyof typeof PAGE_WORDS.en]), name)
      }
    })
  }
})
