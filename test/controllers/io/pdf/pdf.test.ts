import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import fc from 'fast-check'
import * as fontkit from 'fontkit'
import { invoicePage } from '../../../../api/invoice/page/render.ts'
import { shown, wrap } from '../../../../controllers/io/pdf/lines.ts'
import { type Mark, PAGE } from '../../../../controllers/io/pdf/page.ts'
import { makePdf } from '../../../../controllers/io/pdf/pdf.ts'
import { lettersOf } from '../../../../controllers/io/pdf/scripts.ts'
import { makeTypefaces, readFontFile } from '../../../../controllers/io/pdf/typefaces.ts'
import { typeset } from '../../../../controllers/io/pdf/typeset.ts'
import { balanceOf, documentOf } from '../../../../crds/invoice/document/document.ts'
import { enclosed } from '../../../../crds/invoice/document/enclose.ts'
import { invoiceMail } from '../../../../crds/invoice/mail/invoice.ts'
import type { Frozen, FrozenDraft } from '../../../../crds/invoice/order/frozen.ts'
import { displayCents } from '../../../../crds/values/money.ts'
import {
  anyFrozen,
  frozenInvoice,
  frozenItem,
  frozenWith,
  HOSTILE,
  paidInFull,
  placedInvoice,
} from '../../../support/builders/frozen.ts'
import { readPdf } from '../../../support/judges/pdftext.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const typefaces = makeTypefaces()
const faces = typefaces('en')
const pdf = makePdf(typefaces)
const read = async (frozen: Frozen | FrozenDraft) => readPdf(await pdf.render(frozen))
const words = async (frozen: Frozen | FrozenDraft): Promise<string> => (await read(frozen)).pages.flat().join('\n')
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

spec('the bytes of a PDF', (t) => {
  const elsewhere = `
    import { createHash } from 'node:crypto'
    import { makePdf } from '${new URL('../../../../controllers/io/pdf/pdf.ts', import.meta.url)}'
    import { enclosed } from '${new URL('../../../../crds/invoice/document/enclose.ts', import.meta.url)}'
    import { frozenInvoice, frozenWith, HOSTILE, placedInvoice } from '${new URL('../../../support/builders/frozen.ts', import.meta.url)}'
    const pdf = makePdf()
    for (const text of process.argv.slice(1)) await pdf.render(frozenWith(text))
    for (const frozen of [frozenInvoice(), frozenWith(HOSTILE.markup), enclosed(placedInvoice())]) {
      console.log(createHash('sha256').update(await pdf.render(frozen)).digest('hex'))
    }`

  t('are the same in every process, time zone, language and order of documents', async () => {
    const run = async (zone: string, lang: string, before: string[]): Promise<string> => {
      const args = [
        '--disable-warning=ExperimentalWarning',
        '--input-type=module-typescript',
        '-e',
        elsewhere,
        ...before,
      ]
      const env = { ...process.env, TZ: zone, LANG: lang, LC_ALL: lang }
      return (await promisify(execFile)(process.execPath, args, { env })).stdout
    }
    const documents = [frozenInvoice(), frozenWith(HOSTILE.markup ?? ''), enclosed(placedInvoice())]
    const here = (await Promise.all(documents.map((one) => pdf.render(one)))).map(sha256)
    assert.equal((await run('Pacific/Kiritimati', 'C', [])).trim().split('\n'), here)
    assert.equal((await run('America/Anchorage', 'de_DE.UTF-8', ['äöü ΩΣ', 'zzz'])).trim().split('\n'), here)
  })

  t('follow the frozen record: another cent is another file', async () => {
    const [one, other] = [await pdf.render(frozenInvoice()), await pdf.render(frozenInvoice({ totalCents: 144_001 }))]
    assert.is.not(sha256(one), sha256(other))
  })

  t('are a well-formed file: every offset, length and stream holds', async () => {
    const { objects, title } = await read(frozenInvoice())
    assert.ok(objects.size > 10)
    assert.is(title, 'Invoice INV-026-0001')
  })

  t('stay small', async () => {
    const { length } = await pdf.render(frozenInvoice({ items: Array.from({ length: 10 }, () => frozenItem()) }))
    assert.ok(length < 25_000, `${length} bytes`)
  })
})

spec('the PDF', (t) => {
  t('shows everything that the document says', async () => {
    const frozen = frozenInvoice({ paid: paidInFull, discountCents: 500 })
    const text = await words(frozen)
    const document = documentOf(frozen)
    const said = [
      ...[document.heading.title, document.heading.number, document.seller.name, ...document.seller.lines],
      ...[document.client.name, ...document.client.lines, document.due.value, document.payment?.text ?? ''],
      ...document.items.rows.flat(),
      ...document.sums.flatMap(({ label, value }) => [label, value]),
      ...[
        'PAID',
        'Payment terms',
        'Payable within 30 days.',
        'Page 1 of 1',
        document.footer.text,
        'Reference: SEPA-42',
      ],
    ]
    for (const one of said) assert.ok(text.includes(one), one)
  })

  t('embeds exactly the outlines of the font, composed letters too', async () => {
    const text = 'Äçéñő ŭž Ωμέγα Дело Ệ €ﬁ'
    const { fonts: embedded } = await read(frozenInvoice({ terms: text }))
    const source = fontkit.create(readFontFile('NotoSans', 'regular')) as unknown as Drawn
    const regular = embedded.find(({ name }) => name === 'NotoSans-Regular')
    const subset = fontkit.create(regular?.file ?? Buffer.alloc(0)) as unknown as Drawn
    for (const letter of text.normalize('NFC').replaceAll(' ', '')) {
      const place = regular?.characters.indexOf(letter) ?? -1
      assert.ok(place > 0, letter)
      const wanted = source.glyphForCodePoint(letter.codePointAt(0) ?? 0)
      assert.is(subset.getGlyph(place).path.toSVG(), wanted.path.toSVG(), letter)
      assert.is(subset.getGlyph(place).advanceWidth, wanted.advanceWidth, letter)
    }
  })

  t('carries DRAFT on every page of a draft and TEST on every page of a test', async () => {
    const items = Array.from({ length: 80 }, () => frozenItem())
    const draft = await read({ ...frozenInvoice({ items }), number: null })
    assert.ok(draft.pages.length > 1)
    for (const page of draft.pages) assert.ok(page.includes('DRAFT'))
    assert.ok(draft.pages[0]?.includes('This is a draft. It has no number yet and is no invoice.'))
    assert.is(draft.title, 'Invoice')
    for (const page of (await read(frozenInvoice({ items, test: true, lang: 'es' }))).pages)
      assert.ok(page.includes('PRUEBA'))
    for (const page of (await read(frozenInvoice({ items }))).pages)
      assert.not.ok(page.includes('DRAFT') || page.includes('TEST'))
  })

  t('repeats the head of the table on each of many pages, counts them, and loses no line', async () => {
    const items = Array.from({ length: 500 }, (_, index) =>
      frozenItem({ description: `Line number ${index}.${index % 9 === 0 ? '\nA second line.\nA third.' : ''}` }),
    )
    const { pages } = await read(frozenInvoice({ items }))
    assert.ok(pages.length > 10)
    const tables = pages.filter((page) => page.some((text) => text.startsWith('Line number')))
    for (const page of tables) assert.ok(page.includes('Description') && page.includes('Amount (EUR)'))
    pages.forEach((page, index) => {
      assert.ok(page.includes(`Page ${index + 1} of ${pages.length}`))
    })
    const drawn = pages.flat()
    items.forEach((_, index) => {
      assert.is(drawn.filter((text) => text === `Line number ${index}.`).length, 1)
    })
    assert.is(drawn.filter((text) => text === 'A third.').length, 56)
    assert.is(drawn.filter((text) => text === '1,440.00 EUR').length, 2)
  })

  t('splits an item of a thousand lines over pages without losing one', async () => {
    const description = Array.from({ length: 400 }, (_, index) => `part ${index};`).join('\n')
    const drawn = (await read(frozenInvoice({ items: [frozenItem({ description }), frozenItem()] }))).pages.flat()
    assert.equal(
      drawn.filter((text) => /^part \d+;$/.test(text)),
      description.split('\n'),
    )
    assert.ok(drawn.includes('October retainer'))
  })

  t('keeps figures of any size apart from their labels and from each other', () => {
    const totalCents = Number.MAX_SAFE_INTEGER
    const huge = frozenItem({ qty: '999999999.999999', unitCents: 1_000_000_000_000, amountCents: totalCents })
    const taxGroups = [{ rateBp: 1950, baseCents: totalCents, taxCents: totalCents }]
    const frozen = frozenInvoice({ items: [huge], subtotalCents: totalCents, taxGroups, totalCents })
    for (const marks of typeset(documentOf(frozen), faces)) {
      const texts = marks.filter((mark) => mark.mark === 'text' && mark.turn === undefined)
      const spans = texts.map((mark) => (mark.mark === 'text' ? { ...mark, end: mark.x + lengthOf(mark) } : null))
      for (const one of spans) {
        for (const other of spans) {
          const beside = one && other && one.x < other.x && Math.abs(one.y - other.y) < 4
          if (beside) assert.ok(one.end <= other.x - 3, `${one.line.text} runs into ${other.line.text}`)
        }
      }
    }
  })

  t('shows a long footer once and whole instead of at the foot of each page', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `clause ${index};`)
    const seller = { ...frozenInvoice().seller, footer: lines.join('\n') }
    const drawn = (await read(frozenInvoice({ seller }))).pages.flat()
    assert.equal(
      drawn.filter((text) => text.startsWith('clause')),
      lines,
    )
  })

  t('writes Chinese invoices in Chinese', async () => {
    assert.ok((await words(frozenInvoice({ lang: 'zh-Hant' }))).includes('應付金額'))
    assert.ok((await words(frozenInvoice({ lang: 'zh-Hans' }))).includes('应付金额'))
  })
})

const lengthOf = ({ line, size }: Extract<Mark, { mark: 'text' }>): number => (line.width * size) / 1000

type Drawn = Record<
  'getGlyph' | 'glyphForCodePoint',
  (id: number) => { path: { toSVG(): string }; advanceWidth: number }
>

spec('hostile text in a PDF', (t) => {
  for (const [name, text] of Object.entries(HOSTILE)) {
    t(`neither breaks it nor acts: ${name}`, async () => {
      const { objects, title } = await read(frozenWith(text))
      assert.is(title, 'Invoice INV-026-0001')
      for (const { dictionary } of objects.values()) {
        assert.not.match(
          dictionary,
          /\/(JS|JavaScript|Launch|URI|OpenAction|AA|EmbeddedFiles?|Annots|GoToR|SubmitForm)\b/,
        )
      }
    })

    t(`stays within the page: ${name}`, () => {
      for (const mark of typeset(documentOf(frozenWith(text)), typefaces('en')).flat()) {
        if (mark.mark !== 'text' || mark.turn !== undefined) continue
        const end = mark.x + lengthOf(mark)
        assert.ok(mark.x >= 47.9 && end <= PAGE.width - 47.9, `${mark.x} to ${end}: ${mark.line.text}`)
        assert.ok(mark.y > 20 && mark.y < PAGE.height - 20, `${mark.y}: ${mark.line.text}`)
      }
    })
  }

  t('shows a mark in place of what the face lacks or would hide, and never nothing', async () => {
    assert.is(
      shown(faces.regular, 'a\u0b95b\u0000c\u202ed😀e\ud800f\ue000g'),
      'a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg',
    )
    assert.is(shown(faces.regular, 'e\u0301\u00a0x\ty\u00adz'), 'é x yz')
    assert.ok((await words(frozenInvoice({ terms: '🧾🧾' }))).includes('\ufffd\ufffd'))
  })

  t('becomes characters of the face, all of them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const char of shown(faces.regular, text)) assert.ok(faces.regular.faceOf(char.codePointAt(0) ?? 0))
      }),
      { numRuns: 200 },
    )
  })

  t('is broken into lines that fit, with no letter lost or turned round', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 20, max: 300 }), (text, width) => {
        const lines = wrap(faces.regular, 9, text, width)
        const bare = (some: string) => some.replaceAll(' ', '')
        assert.is(
          bare(lines.map((line) => line.text).join('')),
          bare(
            text
              .split(/\r\n|[\n\r\u2028\u2029]/)
              .map((part) => shown(faces.regular, part))
              .join(''),
          ),
        )
        for (const line of lines) {
          const fits = (line.width * 9) / 1000 <= width + 0.01
          assert.ok(fits || lettersOf(line.text).length <= 1, line.text)
        }
      }),
      { numRuns: 200 },
    )
  })
})

spec('money', (t) => {
  t('is the same to the cent in PDF, page and mail', async () => {
    await fc.assert(
      fc.asyncProperty(anyFrozen, async (frozen) => {
        const inPdf = new Set((await read(frozen)).pages.flat())
        const paidCents = frozen.paid?.amountCents ?? 0
        const facts = {
          frozen,
          status: 'sent',
          paidCents,
          balanceCents: balanceOf(frozen),
          path: '/i/t',
          url: 'https://pay.test/i/t',
        } as const
        const inPage = new Set(
          [...invoicePage(facts).matchAll(/<d[dt]>(?:<bdi>)?([^<]*)|"figure"[^>]*>([^<]*)/g)].map(
            (match) => match[1] ?? match[2],
          ),
        )
        const { sums, due, items } = documentOf(frozen)
        for (const amount of [
          due.value,
          ...sums.map((sum) => sum.value),
          ...items.rows.map((row) => row.at(-1) ?? ''),
        ]) {
          assert.ok(inPdf.has(amount), `the PDF lacks ${amount}`)
          assert.ok(inPage.has(amount), `the page lacks ${amount}`)
        }
        const purpose = frozen.paid ? 'receipt' : 'invoice'
        const mail = invoiceMail({ frozen, url: 'https://pay.test/i/t', password: null, locked: false, purpose })
        const said = displayCents(frozen.paid ? paidCents : frozen.totalCents, frozen.currency)
        assert.ok(mail.text.includes(said) && mail.html.includes(said), `the mail lacks ${said}`)
        assert.ok(inPdf.has(said) || inPdf.has(`-${said}`))
      }),
      { numRuns: 40 },
    )
  })
})
