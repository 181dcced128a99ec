/** PDFs before the validators that the world uses: Mustang (Factur-X, EN 16931) and veraPDF (PDF/A). 50 with --full. */
import fc from 'fast-check'
import { makePdf } from '../../../../controllers/io/pdf/pdf.ts'
import { enclosed } from '../../../../crds/invoice/document/enclose.ts'
import type { Frozen } from '../../../../crds/invoice/order/frozen.ts'
import { missing } from '../../../support/builders/einvoice.ts'
import { frozenInvoice, HOSTILE, paidInFull, placedInvoice } from '../../../support/builders/frozen.ts'
import { plain, png } from '../../../support/builders/logos.ts'
import { anyOrder } from '../../../support/builders/orders.ts'
import { readPdf } from '../../../support/judges/pdftext.ts'
import { validate } from '../../../support/judges/validators.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const SEED = 16_931
const PAIRS = process.env.BOTTEGA_TEST_FULL === '1' ? 25 : 4
const timeoutMs = 600_000

const pdf = makePdf()

/** Invoices, and the credit notes of as many others. */
const randomOnes = (): [string, Frozen][] => {
  const orders = fc.sample(anyOrder, { numRuns: PAIRS * 8, seed: SEED })
  const notes = orders.flatMap(({ note }) => (note ? [note.frozen] : [])).slice(0, PAIRS)
  const invoices = orders.slice(0, PAIRS).map(({ frozen }) => frozen)
  assert.equal([invoices.length, notes.length], [PAIRS, PAIRS])
  return [...invoices, ...notes].map((frozen, index) => [`random-${index}-${frozen.kind}`, frozen])
}

const placed = (changes: Partial<Frozen> = {}): Frozen => enclosed(placedInvoice(changes))
const LOGO = { sha256: '00', width: 64, height: 32 }

/** What is drawn otherwise than a plain invoice. */
const SPECIAL: [string, Frozen, Buffer | null][] = [
  ['paid', placed({ paid: paidInFull }), null],
  ['logo-png', placed({ seller: { ...frozenInvoice().seller, logo: LOGO } }), png],
  [
    'logo-grey',
    placed({ seller: { ...frozenInvoice().seller, logo: LOGO } }),
    await plain().greyscale().png().toBuffer(),
  ],
  ['logo-jpeg', placed({ seller: { ...frozenInvoice().seller, logo: LOGO } }), await plain().jpeg().toBuffer()],
  ['scripts', placed({ terms: 'Größe Ωμέγα 发票號碼 שירות 12 خدمة ใบแจ้งหนี้ 청구서 ݠ 🧾', lang: 'zh-Hant' }), null],
  [
    'many-pages',
    placed({ items: Array.from({ length: 90 }, () => frozenInvoice().items[0] ?? missing('an item')) }),
    null,
  ],
  ...Object.entries(HOSTILE)
    .filter(([, text]) => text.trim() !== '')
    .map(([what, text]): [string, Frozen, null] => [what.replaceAll(' ', '-'), placed({ terms: `x ${text}` }), null]),
]

const named = async (all: [string, Frozen, Buffer | null][]): Promise<Record<string, Buffer>> =>
  Object.fromEntries(
    await Promise.all(
      all.map(async ([name, frozen, logo]) => [`${name}.pdf`, await pdf.render(frozen, logo ? { logo } : {})] as const),
    ),
  )

spec('Mustang and veraPDF', (t) => {
  t(
    'accept invoices and credit notes with the electronic invoice inside',
    async () => {
      const random = randomOnes().map(([name, frozen]): [string, Frozen, null] => [name, frozen, null])
      // sums that do not add up, as those of many pages, carry no XML
      const whole = SPECIAL.filter(([, { einvoice }]) => einvoice?.profile === 'EN 16931')
      const files = await named([...random, ...whole])
      for (const [name, bytes] of Object.entries(files)) assert.is(readPdf(bytes).attachments.length, 1, name)
      const judged = await validate(files)
      assert.is(judged.length, random.length + whole.length)
      assert.equal(
        judged.filter(({ faults, flavour }) => faults.length > 0 || flavour !== '3b'),
        [],
      )
    },
    { timeoutMs },
  )

  t(
    'find PDF/A-3b in drafts and voided ones, which carry none, and see what is broken',
    async () => {
      const draft = { ...placed(), number: null }
      const voided = enclosed({ ...placed(), voidedOn: '2026-11-22' })
      const good = await pdf.render(placed())
      const files = {
        'draft.pdf': await pdf.render(draft),
        'voided.pdf': await pdf.render(voided),
        'broken.pdf': Buffer.from(good.toString('latin1').replace('<pdfaid:part>3', '<pdfaid:part>9'), 'latin1'),
      }
      const judged = await validate(files)
      for (const { name, flavour, faults } of judged.filter(({ name }) => name !== 'broken.pdf')) {
        assert.is(flavour, '3b', name)
        assert.equal(
          faults.filter((fault) => fault.startsWith('veraPDF')),
          [],
          name,
        )
      }
      assert.ok((judged.at(-1)?.faults.length ?? 0) > 0)
    },
    { timeoutMs },
  )
})
