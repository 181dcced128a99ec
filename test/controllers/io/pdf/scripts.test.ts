import * as fontkit from 'fontkit'
import { lineOf, shown, wrap } from '../../../../controllers/io/pdf/lines.ts'
import { makePdf } from '../../../../controllers/io/pdf/pdf.ts'
import { breaksOf, directionOf } from '../../../../controllers/io/pdf/scripts.ts'
import { FAMILIES, makeTypefaces, readFontFile } from '../../../../controllers/io/pdf/typefaces.ts'
import { frozenInvoice } from '../../../support/builders/frozen.ts'
import { readPdf } from '../../../support/judges/pdftext.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const typefaces = makeTypefaces()
const { regular } = typefaces('en')
const pdf = makePdf(typefaces)

/** What stands on the line from left to right: the letters of each piece as they are drawn. */
const seen = (text: string): string[] =>
  lineOf(regular, shown(regular, text)).pieces.map(
    ({ text: letters, glyphs }) =>
      glyphs?.map(({ codePoints }) => String.fromCodePoint(...codePoints)).join('') ?? letters,
  )

const SAMPLES: [string, string, string[]][] = [
  ['Latin, Greek, Cyrillic', 'Straße Ωμέγα Дело', ['NotoSans-Regular']],
  ['Arabic', 'فاتورة', ['NotoSansArabic-Regular']],
  ['Hebrew', 'חשבונית', ['NotoSansHebrew-Regular']],
  ['Thai', 'ใบแจ้งหนี้', ['NotoSansThai-Regular']],
  ['simplified Chinese', '发票号码', ['NotoSansSC-Regular']],
  ['traditional Chinese', '發票號碼', ['NotoSansSC-Regular']],
  ['Japanese', '請求書をカタカナで', ['NotoSansSC-Regular']],
  ['Korean', '청구서', ['NotoSansKR-Regular']],
  ['all at once', 'Rechnung 发票 חשבונית', ['NotoSans-Regular', 'NotoSansSC-Regular', 'NotoSansHebrew-Regular']],
]

spec('the faces of a document', (t) => {
  for (const [what, text, names] of SAMPLES) {
    t(`write ${what}`, async () => {
      const { pieces } = lineOf(regular, shown(regular, text))
      assert.equal([...new Set(pieces.map(({ face }) => face.name))].sort(), [...names].sort())
      const { pages } = await readPdf(await pdf.render(frozenInvoice({ terms: text })))
      assert.not.ok(pages.flat().some((line) => line.includes('\ufffd')))
    })
  }

  t('write traditional characters by the traditional face on a traditional invoice', () => {
    const { pieces } = lineOf(typefaces('zh-Hant').regular, '發票號碼')
    assert.equal(
      pieces.map(({ face }) => face.name),
      ['NotoSansTC-Regular'],
    )
  })

  t('have a name of their own each, or pdfkit would take one for another', () => {
    const names = FAMILIES.flatMap((family) =>
      (['regular', 'bold'] as const).map((weight) => fontkit.create(readFontFile(family, weight)).postscriptName),
    )
    assert.is(new Set(names).size, FAMILIES.length * 2)
  })

  t('embed exactly the outlines of their fonts', async () => {
    for (const [, text, names] of SAMPLES.filter(([, , names]) => names.length === 1)) {
      const { fonts } = readPdf(await pdf.render(frozenInvoice({ terms: text })))
      const family = FAMILIES.find((one) => `${one}-Regular` === names[0]) ?? 'NotoSans'
      const embedded = fonts.find(({ name }) => name === names[0])
      const subset = fontkit.create(embedded?.file ?? Buffer.alloc(0)) as unknown as Drawn
      const source = fontkit.create(readFontFile(family, 'regular')) as unknown as Drawn
      const { pieces } = lineOf(regular, shown(regular, text))
      const drawn = pieces.flatMap(
        ({ face, text, glyphs }) =>
          glyphs?.map(({ id }) => id) ?? [...text].map((char) => face.glyphOf(char.codePointAt(0) ?? 0)),
      )
      const outlines = Array.from({ length: subset.numGlyphs }, (_, place) => subset.getGlyph(place).path.toSVG())
      for (const id of drawn) assert.ok(outlines.includes(source.getGlyph(id).path.toSVG()), `${family} ${id}`)
    }
  })
})

type Drawn = { numGlyphs: number; getGlyph(id: number): { path: { toSVG(): string } } }

spec('text from right to left', (t) => {
  t('is drawn from the right, figures and Latin words within it from the left', () => {
    assert.is(seen('אבג 123 דה').join(''), 'הד 123 גבא')
    assert.equal(seen('Total: שלום'), ['Total: ', 'םולש'])
    assert.is(directionOf('שלום ACME'), 'rtl')
    assert.is(directionOf('ACME שלום'), 'ltr')
    assert.is(seen('שלום ACME 5').join(''), 'ACME 5 םולש')
  })

  t('turns its brackets round', () => {
    assert.is(seen('(אב)').join(''), '(בא)')
  })

  t('joins Arabic letters, and leaves them apart where the writer says so', () => {
    const ids = (text: string) =>
      lineOf(regular, shown(regular, text)).pieces.flatMap(({ glyphs }) => glyphs?.map(({ id }) => id) ?? [])
    const alone = ['م', 'س', 'م'].flatMap(ids)
    assert.not.equal(ids('مسم'), alone)
    assert.not.equal(ids('می\u200cخواهم'), ids('میخواهم'))
  })

  t('is drawn though its font gives a letter no place for a mark', async () => {
    const { pages } = readPdf(await pdf.render(frozenInvoice({ terms: 'ݠ بَ' })))
    assert.ok(pages.flat().includes('ݠ بَ'))
  })

  t('says what it shows, in the order of reading', async () => {
    const { pages } = readPdf(await pdf.render(frozenInvoice({ terms: 'مرحبا بالعالم' })))
    assert.ok(pages.flat().includes('مرحبا بالعالم'))
  })
})

spec('a line', (t) => {
  t('of Thai ends between words, though no space stands there', () => {
    assert.equal(breaksOf('ใบแจ้งหนี้ค่าบริการ'), [2, 6, 10, 13, 19])
  })

  t('of Chinese never begins with a comma or a full stop, nor ends with an opening bracket', () => {
    const text = '設計（十一月），修改、交付。'.repeat(12)
    for (let width = 30; width < 120; width += 3) {
      const lines = wrap(regular, 9, text, width).map((line) => line.text)
      assert.is(lines.join(''), text)
      assert.not.ok(
        lines.some((line) => /^[，。、）]|（$/.test(line)),
        `width ${width}: ${lines.join(' | ')}`,
      )
    }
  })

  t('keeps a Thai vowel sign and an accent with their letters', () => {
    for (const line of wrap(regular, 9, 'ที่น้ำ'.repeat(20), 20)) assert.not.match(line.text, /^\p{M}/u)
    for (const line of wrap(regular, 9, 'x\u0302'.repeat(40), 20)) assert.not.match(line.text, /^\p{M}/u)
  })

  t('stays near itself, however many marks are piled up', () => {
    for (const base of ['Z', 'ก', 'ب']) {
      const glyphs = lineOf(regular, shown(regular, base + '\u0301\u0e48\u064e'.repeat(40))).pieces.flatMap(
        (piece) => piece.glyphs ?? [],
      )
      for (const { dy } of glyphs) assert.ok(Math.abs(dy) <= 1_100, `${base} ${dy}`)
    }
  })
})
