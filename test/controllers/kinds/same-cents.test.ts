/**
 * The same cents wherever an invoice is shown (rules/invoice.md#the-same-cents): the API's view, the client's page, the
 * text of the PDF, the mail and the XML, each read back from what a reader gets. 10,000 random ones with --full.
 */
import fc from 'fast-check'
import { invoicePage } from '../../../api/invoice/page/render.ts'
import { makePdf } from '../../../controllers/io/pdf/pdf.ts'
import { balanceOf } from '../../../crds/invoice/document/document.ts'
import { WORDS } from '../../../crds/invoice/document/words/words.ts'
import { invoiceMail } from '../../../crds/invoice/mail/invoice.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import { missing } from '../../support/builders/einvoice.ts'
import { anyOrder, CURRENCIES, type Ordered } from '../../support/builders/orders.ts'
import { readPdf } from '../../support/judges/pdftext.ts'
import { elementsAt, readXml, textsAt } from '../../support/judges/xml.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const COUNT = process.env.BOTTEGA_TEST_FULL === '1' ? 10_000 : 300
const LIMIT_MS = process.env.BOTTEGA_TEST_FULL === '1' ? 3_600_000 : 300_000
const SEED = 20_261_122
/** Those of the sample that ISO 4217 gives no decimals. */
const WHOLE = new Set(['JPY', 'KRW', 'CLP', 'ISK'])

const pdf = makePdf()

/** `'-1,234.500 KWD'` → -123450; null for what is no amount in hundredths. Exact, and not made by what is tested. */
const amountIn = (text: string): number | null => {
  const [, minus, whole = '', fraction = ''] = /^(-?)([\d,]+)(?:\.(\d+))?(?: [A-Z]{3})?$/.exec(text) ?? []
  if (whole === '' || !/^\d{0,2}0*$/.test(fraction)) return null
  const cents = Number(whole.replaceAll(',', '')) * 100 + Number(fraction.slice(0, 2).padEnd(2, '0'))
  return minus === '-' && cents > 0 ? -cents : cents
}
const centsOf = (text: string): number => amountIn(text) ?? missing(`an amount in ${text}`)

/** Labels and values as they follow each other. */
const labelled = (texts: string[], label: string): string => {
  const at = texts.lastIndexOf(label)
  assert.ok(at >= 0, `nothing is called ${label}`)
  return texts[at + 1] ?? ''
}

/** The amounts stand in `texts` in this order, whatever stands between them. */
const followsEach = (texts: string[], amounts: number[], where: string): void => {
  let at = 0
  for (const amount of amounts) {
    while (at < texts.length && amountIn(texts[at] ?? '') !== amount) at++
    assert.ok(at < texts.length, `${where} lacks the line of ${amount}`)
    at++
  }
}

type Amounts = { lines: number[]; subtotal: number; discount: number; taxes: number[]; total: number; due: number }

const inView = ({ view, frozen }: Ordered): Amounts => ({
  lines: view.items.map((one) => one.amount_cents ?? Number.NaN),
  subtotal: view.subtotal_cents ?? Number.NaN,
  discount: view.discount_cents,
  taxes: frozen.taxGroups.map(({ taxCents }) => taxCents),
  total: view.total_cents ?? Number.NaN,
  due: view.balance_cents ?? Number.NaN,
})

/** What the sums of the PDF or of the page say; labels are those of its language. */
const shownIn = (texts: string[], frozen: Frozen, wanted: Amounts, where: string): void => {
  const words = WORDS[frozen.lang]
  const value = (label: string) => centsOf(labelled(texts, label))
  followsEach(texts, wanted.lines, where)
  assert.is(value(words.subtotal), wanted.subtotal, `${where}: subtotal`)
  assert.is(value(words.total), wanted.total, `${where}: total`)
  if (wanted.discount > 0) assert.is(value(words.discount), -wanted.discount, `${where}: discount`)
  assert.is(value(frozen.credits ? words.amountCredited : words.amountDue), wanted.due, `${where}: due`)
  if (frozen.paid) assert.is(value(words.balance), wanted.due, `${where}: balance`)
}

const SETTLEMENT = 'SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement'
const SUMS = `${SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation`

const inXml = (xml: string): Amounts => {
  const root = readXml(xml)
  const all = (path: string) => textsAt(root, path).map(centsOf)
  const one = (path: string) => all(path)[0] ?? 0
  return {
    lines: elementsAt(root, 'SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem').flatMap((line) =>
      textsAt(line, 'SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount').map(
        centsOf,
      ),
    ),
    subtotal: one(`${SUMS}/LineTotalAmount`),
    discount: one(`${SUMS}/AllowanceTotalAmount`),
    taxes: all(`${SETTLEMENT}/ApplicableTradeTax/CalculatedAmount`),
    total: one(`${SUMS}/GrandTotalAmount`),
    due: one(`${SUMS}/DuePayableAmount`),
  }
}

/** The PDF's text and the XML inside it. */
const checkPaper = async (frozen: Frozen, wanted: Amounts): Promise<void> => {
  assert.equal(frozen.einvoice, { profile: 'EN 16931' })
  const { pages, attachments } = readPdf(await pdf.render(frozen))
  shownIn(pages.flat(), frozen, wanted, 'the PDF')
  const xml = inXml(attachments[0]?.bytes.toString('utf8') ?? '')
  assert.equal(xml, wanted, 'the XML')
}

const pageTexts = (frozen: Frozen): string[] => {
  const paidCents = frozen.paid?.amountCents ?? 0
  const links = { path: '/i/t', url: 'https://pay.test/i/t', pdfPath: '/i/t/pdf' }
  const facts = { ...links, frozen, status: 'sent', paidCents, balanceCents: balanceOf(frozen) } as const
  const cells = invoicePage(facts).matchAll(/<d[dt][^>]*>(?:<bdi>)?([^<]*)|"figure"[^>]*>(?:<bdi>)?([^<]*)/g)
  return [...cells].map(([, pair, figure]) => pair ?? figure ?? '')
}

const checkMail = (frozen: Frozen, wanted: Amounts): void => {
  const purpose = frozen.paid ? 'receipt' : 'invoice'
  const mail = invoiceMail({ frozen, url: 'https://pay.test/i/t', password: null, locked: false, purpose })
  const amounts = (text: string) =>
    [...text.matchAll(new RegExp(`-?[\\d,]+(?:\\.\\d+)? ${frozen.currency}`, 'g'))].map(([amount]) => centsOf(amount))
  const paidCents = frozen.paid?.amountCents ?? 0
  const said = frozen.paid ? [paidCents, ...(wanted.due > 0 ? [wanted.due] : [])] : [wanted.total]
  for (const text of [mail.subject, mail.text, mail.html]) {
    const found = amounts(text)
    assert.ok(found.includes(said[0] ?? Number.NaN), `the mail lacks ${said[0]}: ${text.slice(0, 200)}`)
    for (const amount of found) assert.ok(said.includes(amount), `the mail says ${amount}`)
  }
}

/** A reader who counts sees nothing that the currency does not have. */
const checkWhole = ({ currency, ...amounts }: Amounts & { currency: string }): void => {
  const all = Object.values(amounts).flat()
  if (WHOLE.has(currency)) for (const cents of all) assert.is(Math.abs(cents % 100), 0, `${cents} of ${currency}`)
}

const check = async (ordered: Ordered): Promise<void> => {
  const { frozen, note } = ordered
  const wanted = inView(ordered)
  checkWhole({ ...wanted, currency: frozen.currency })
  await checkPaper(frozen, wanted)
  shownIn(pageTexts(frozen), frozen, wanted, 'the page')
  checkMail(frozen, wanted)
  if (note === null) return
  const { items, subtotalCents: subtotal, discountCents: discount, taxGroups } = note.frozen
  const lines = items.map(({ amountCents }) => amountCents)
  const taxes = taxGroups.map(({ taxCents }) => taxCents)
  const credited = { lines, subtotal, discount, taxes, total: note.amountCents, due: note.amountCents }
  checkWhole({ ...credited, currency: frozen.currency })
  await checkPaper(note.frozen, credited)
}

spec('an invoice of any currency, with rebates, discounts, mixed rates and odd quantities', (t) => {
  t(
    'shows the same cents in API, page, PDF, mail and XML, and keeps every rule of EN 16931',
    async () => {
      let notes = 0
      const currencies = new Set<string>()
      for (const [index, ordered] of fc.sample(anyOrder, { numRuns: COUNT, seed: SEED }).entries()) {
        await check(ordered).catch((error: Error) => {
          throw new Error(`order ${index}: ${error.message}\n${JSON.stringify(ordered.frozen)}`, { cause: error })
        })
        currencies.add(ordered.frozen.currency)
        if (ordered.note) notes += 1
      }
      assert.ok(
        notes > COUNT / 4 && currencies.size === CURRENCIES.length,
        `${notes} credit notes, ${currencies.size} currencies`,
      )
    },
    { timeoutMs: LIMIT_MS },
  )
})
