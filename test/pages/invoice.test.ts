/** The client's page in a real browser: nobody is kept out, hostile words stay words, and its codes can be read. */
import jsQR from 'jsqr'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { revisionPage } from '../../api/invoice/page/preview.ts'
import { gatePage, invoicePage, lostPage, type PageFacts } from '../../api/invoice/page/render.ts'
import { pageHtml } from '../../api/invoice/page/show.ts'
import { PAGE_SHEET } from '../../api/invoice/page/style.ts'
import { epcText } from '../../crds/invoice/document/epc.ts'
import { type DocumentLang, LANGS } from '../../crds/invoice/order/frozen.ts'
import { frozenInvoice, frozenItem } from '../support/builders/frozen.ts'
import { HIT, HOSTILE } from '../support/builders/hostile.ts'
import { barriers, picture, startBrowser, visit } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { serveOnePage } from '../support/stage/onepage.ts'

const IBAN = 'ES9121000418450200051332'
const URL = 'https://pay.example.test/i/inv-october-acme.abcdefghijklmnopqrstuv'
const path = '/i/token'
const seller = { ...frozenInvoice().seller, iban: IBAN, footer: 'Demo Studio SL, registered in Madrid' }
const invoice = frozenInvoice({
  seller,
  items: [
    frozenItem({ qty: '1', amountCents: 80_000 }),
    frozenItem({
      description: 'Travel to the client, as agreed in the letter of 3 October, two days',
      qty: '2',
      unitCents: 20_000,
      amountCents: 40_000,
    }),
  ],
})
const facts = (change: Partial<PageFacts> = {}): PageFacts => ({
  frozen: invoice,
  status: 'sent',
  paidCents: 0,
  balanceCents: 144_000,
  claimForm: { path: `${path}/claim`, date: '2026-11-22', reference: '', amount: '1440.00' },
  path,
  url: URL,
  ...change,
})
const part = [{ on: '2026-11-22', method: 'Bank transfer', amountCents: 44_000 }]
/** What was edited and not sent: the lines and the due date. */
const REVISION = {
  changed: [
    { pointer: '/due_date', from: '2026-12-20', to: '2027-01-05' },
    { pointer: '/items/0/qty', from: 1, to: 6 },
  ],
  totalCents: 720_000,
}
const claims = [{ paidOn: '2026-11-20', reference: 'SEPA-7', amountCents: 144_000 }]
const creditNotes = [
  { number: 'CNINV-026-0001', on: '2026-11-23', amountCents: 20_000, path: `${path}/credit-notes/x` },
]
const fault = { path, date: '2031-01-01', reference: '', amount: '1440.00', fault: 'badDate' as const }

const PAGES: [name: string, of: (lang: DocumentLang) => string][] = [
  ['gate', (lang) => gatePage({ lang, locked: false, path })],
  ['gate-wrong', (lang) => gatePage({ lang, locked: false, path, wrong: true })],
  ['gate-locked', (lang) => gatePage({ lang, locked: true, path })],
  ['lost', (lang) => lostPage(lang)],
  ['sent', (lang) => invoicePage(facts({ lang }))],
  ['cards', (lang) => invoicePage(facts({ lang, collect: { state: 'ready', path: `${path}/pay` } }))],
  ['waiting', (lang) => invoicePage(facts({ lang, collect: { state: 'waiting' }, claims }))],
  ['away', (lang) => invoicePage(facts({ lang, collect: { state: 'away' }, claimForm: fault }))],
  [
    'partial',
    (lang) =>
      invoicePage(
        facts({
          lang,
          status: 'partial',
          paidCents: 44_000,
          creditedCents: 20_000,
          balanceCents: 80_000,
          payments: part,
          creditNotes,
        }),
      ),
  ],
  ['overdue', (lang) => invoicePage(facts({ lang, status: 'overdue' }))],
  ['edited', (lang) => invoicePage(facts({ lang, revision: REVISION }))],
  [
    'revision',
    (lang) => {
      const draft = { ...invoice, lang, number: null, revises: invoice.number, dueDate: '2027-01-05' }
      return revisionPage({ draft, sent: invoice, changed: REVISION.changed, path: '/i/revision', url: facts({}).url })
    },
  ],
  [
    'paid',
    (lang) =>
      invoicePage(
        facts({ lang, status: 'paid', paidCents: 144_000, balanceCents: 0, paidOn: '2026-11-22', payments: part }),
      ),
  ],
  ['voided', (lang) => invoicePage(facts({ lang, status: 'voided', balanceCents: 0, voidedOn: '2026-11-22' }))],
  ['test', (lang) => invoicePage(facts({ lang, frozen: { ...invoice, test: true } }))],
]
/** Of the states each view takes every so many-th, another than its neighbours; --full takes all. */
const EVERY = process.env.BOTTEGA_TEST_FULL === '1' ? 1 : 4
/** Every language, light and dark, narrow and wide. */
const VIEWS = LANGS.flatMap((lang, at) => [
  { lang, width: at % 2 === 0 ? 320 : 1200, dark: at < 2 },
  { lang, width: at % 2 === 0 ? 1200 : 320, dark: at >= 2 },
])

/** What a reader of codes sees on the screen. */
const readCode = async (page: Page, selector: string): Promise<string | undefined> => {
  const shot = await page.locator(selector).screenshot()
  const { data, info } = await sharp(shot).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return jsQR.default(new Uint8ClampedArray(data), info.width, info.height)?.data
}

spec("the client's page in a browser", (t) => {
  let browser: Browser
  let served: Awaited<ReturnType<typeof serveOnePage>>
  let html = ''
  let baseURL = ''
  t.before(async () => {
    browser = await startBrowser()
    const { headers } = pageHtml(200, '')
    served = await serveOnePage({ sheet: PAGE_SHEET, headers, html: () => html })
    baseURL = served.baseURL
  })
  t.after(async () => {
    await browser.close()
    await served.end()
  })

  for (const [at, { lang, width, dark }] of VIEWS.entries()) {
    t(
      `keeps nobody out and fits, whatever the state (${lang}, ${width}, ${dark ? 'dark' : 'light'})`,
      async () => {
        const visitor = await visit(browser, { baseURL, width, dark, javaScriptEnabled: true })
        for (const [name, of] of PAGES.filter((_page, place) => (place + at) % EVERY === 0)) {
          html = of(lang)
          await visitor.page.goto('/')
          assert.equal(await barriers(visitor.page), [], name)
          const over = await visitor.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          assert.ok(over <= 0, `${name} sticks out by ${over} px`)
          await picture(visitor.page, `invoice-${name}-${lang}-${width}`)
        }
        assert.equal(visitor.outside, [])
        await visitor.end()
      },
      { timeoutMs: 120_000 },
    )
  }

  t('has codes that another reader reads: the transfer, and the way back to the page', async () => {
    for (const dark of [false, true]) {
      const visitor = await visit(browser, { baseURL, width: 1200, dark })
      html = invoicePage(facts())
      await visitor.page.goto('/')
      const transfer = {
        name: seller.legalName,
        iban: IBAN,
        currency: 'EUR',
        amountCents: 144_000,
        remittance: 'INV-026-0001',
      }
      assert.is(await readCode(visitor.page, '.transfer .qr'), epcText(transfer))
      assert.is(await readCode(visitor.page, '.link .qr'), URL)
      await visitor.end()
    }
  })

  t('prints on A4 and Letter: the document and its codes on one page, and nothing to press', async () => {
    const visitor = await visit(browser, { baseURL, width: 1200, dark: true })
    html = invoicePage(facts({ collect: { state: 'ready', path: `${path}/pay` }, claims }))
    await visitor.page.goto('/')
    for (const format of ['A4', 'Letter']) {
      const bytes = await visitor.page.pdf({ format })
      assert.is(bytes.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1, format)
    }
    await visitor.page.emulateMedia({ media: 'print' })
    for (const gone of ['.button', 'button', '.claim', '.languages', '.pay']) {
      assert.is(await visitor.page.locator(gone).first().isVisible(), false, gone)
    }
    for (const kept of ['.link .qr', '.transfer .qr', 'table', '.due']) {
      assert.is(await visitor.page.locator(kept).first().isVisible(), true, kept)
    }
    await picture(visitor.page, 'invoice-print')
    await visitor.end()
  })

  t(
    'shows hostile words as words',
    async () => {
      const visitor = await visit(browser, { baseURL, javaScriptEnabled: true })
      await visitor.page.addInitScript(`globalThis.${HIT} = () => { globalThis.ran = true }`)
      const payloads = HOSTILE.map(([, payload]) => payload)
      const all = payloads.join(' ')
      const frozen = frozenInvoice({
        seller: { ...seller, legalName: all, footer: all, address: all },
        client: { name: all, email: all },
        items: payloads.map((description) => frozenItem({ description })),
        terms: all,
      })
      html = invoicePage(
        facts({
          frozen,
          payments: payloads.map((method) => ({ on: '2026-11-22', method, amountCents: 1 })),
          claims: payloads.map((reference) => ({ paidOn: '2026-11-20', reference, amountCents: 1 })),
          claimForm: { path, date: all, reference: all, amount: all, fault: 'badAmount' },
        }),
      )
      await visitor.page.goto('/')
      assert.is(await visitor.page.evaluate<boolean>('globalThis.ran === true'), false)
      assert.is(await visitor.page.locator('tbody tr').count(), payloads.length)
      assert.equal(visitor.outside, [])
      await visitor.end()
    },
    { timeoutMs: 120_000 },
  )
})
