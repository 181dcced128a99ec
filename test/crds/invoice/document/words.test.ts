import fc from 'fast-check'
import { shown } from '../../../../controllers/io/pdf/lines.ts'
import { makeTypefaces } from '../../../../controllers/io/pdf/typefaces.ts'
import { enclosed } from '../../../../crds/invoice/document/enclose.ts'
import type { InvoiceSpec } from '../../../../crds/invoice/schema.ts'
import { viewInvoice } from '../../../../crds/invoice/view.ts'
import type { InvoiceWorld } from '../../../../crds/invoice/world.ts'
import { undrawn } from '../../../../crds/text/drawn.ts'
import { placedInvoice } from '../../../support/builders/frozen.ts'
import { invoiceResource, invoiceSpec, issuer, sentWorld, world } from '../../../support/builders/invoice.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const PLACED = { clientCountry: 'DE' }
const warnings = (changes: Partial<InvoiceSpec>, around: InvoiceWorld | null = world()): string[] =>
  viewInvoice(invoiceResource(changes), around).warnings

spec('characters that a document cannot show', (t) => {
  t('are those for which the faces set U+FFFD, in every plane', () => {
    const { regular, bold } = makeTypefaces()('en')
    const planes = [...Array(0x3200).keys(), 0x4e00, 0x9fff, 0xac00, 0xd7a3, 0xe000, 0xfffc, 0x1f9fe, 0x20000, 0x2f9f4]
    for (const codePoint of planes) {
      const char = String.fromCodePoint(codePoint)
      if (/[\r\n\u2028\u2029\ufffd]/.test(char)) continue
      const isReplaced = [regular, bold].some((chain) => shown(chain, char).includes('\ufffd'))
      assert.is(undrawn(char).length > 0, isReplaced, `U+${codePoint.toString(16)}`)
    }
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = text.replace(/[\r\n\u2028\u2029\ufffd]/g, ' ')
        assert.is(undrawn(line).length > 0, shown(regular, line).includes('\ufffd'))
      }),
      { numRuns: 500 },
    )
  })

  t('are named once each, in the order of their coming', () => {
    assert.equal(undrawn('Größe 发票 שלום ใบ فاتورة\r\nmore'), [])
    assert.equal(undrawn('a🧾b\u202ec🧾 தமிழ்'), ['🧾', '\u202e', ...new Set('தமிழ்')])
  })
})

const FINDINGS: [string, Partial<InvoiceSpec>, InvoiceWorld | null, RegExp[]][] = [
  ['a draft with all that is asked for', { ...PLACED, send: false }, world(), []],
  [
    'a draft to nowhere',
    { send: false },
    world(),
    [/\(BR-10\)\.$/, /^XML_INCOMPLETE: \/client_country .*country.* \(BR-11\)\.$/],
  ],
  ['an invoice that was sent so', {}, sentWorld(), [/\(BR-10\)/, /\(BR-11\)\. Give it and send again\.$/]],
  [
    'an issuer without a tax number',
    { ...PLACED, send: false },
    world({ issuer: issuer({ taxId: '' }) }),
    [/^XML_INCOMPLETE: \/issuer\/tax_id .*\(BR-CO-26\)/, /\(BR-S-02\)/],
  ],
  [
    'an emoji and a private sign',
    { ...PLACED, terms: 'a\ue000b', items: [{ description: 'Fee 🧾', qty: '1', unitCents: 100 }], send: false },
    world(),
    [
      /^GLYPH_MISSING: \/items\/0\/description has 🧾 \(U\+1F9FE\), which/,
      /^GLYPH_MISSING: \/terms has U\+E000, which/,
    ],
  ],
  [
    'a name in the profile',
    { ...PLACED, send: false },
    world({ issuer: issuer({ legalName: 'தமிழ்' }) }),
    [/^GLYPH_MISSING: \/issuer\/legal_name has த \(U\+0BA4\), /],
  ],
  ['one that nobody has looked at yet', {}, null, []],
]

spec('warnings on the paper of an invoice', (t) => {
  for (const [what, changes, around, wanted] of FINDINGS) {
    t(`tell of ${what}`, () => {
      const found = warnings(changes, around)
      assert.is(found.length, wanted.length, found.join('\n'))
      wanted.forEach((pattern, index) => {
        assert.match(found[index] ?? '', pattern)
      })
    })
  }

  t('are of what was sent, until it is sent again', () => {
    const placed = invoiceSpec(PLACED)
    assert.is(warnings({}, sentWorld(placed)).length, 0)
    assert.is(warnings(PLACED, sentWorld()).length, 2)
  })

  t('stay few, however much is wrong', () => {
    const items = Array.from({ length: 200 }, () => ({ description: '🧾', qty: '1', unitCents: 100 }))
    const found = warnings({ ...PLACED, items, send: false })
    assert.is(found.length, 21)
    assert.match(found[20] ?? '', /180 more/)
    const letters = Array.from({ length: 40 }, (_, index) => String.fromCodePoint(0x1f300 + index)).join('')
    assert.match(warnings({ ...PLACED, terms: letters, send: false })[0] ?? '', / and 28 more, which/)
  })
})

spec('the electronic invoice of a document', (t) => {
  const placed = placedInvoice()

  t('is inside where the rules allow it, of a test too', () => {
    assert.equal(enclosed(placed).einvoice, { profile: 'EN 16931' })
    assert.equal(enclosed({ ...placed, test: true }).einvoice, { profile: 'EN 16931' })
  })

  t('is not inside a voided one, which a machine would pay', () => {
    const { einvoice } = enclosed({ ...placed, voidedOn: '2026-11-22' })
    assert.ok(einvoice?.profile === null && /voided/.test(einvoice.reason))
  })
})
