/** A site on paper, as a real browser prints it: a document, in every layout. */
import type { Browser } from 'playwright-core'
import type { Content } from '../../../crds/site/content/content.ts'
import { LAYOUTS } from '../../../crds/site/content/meta.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { type Materials, materials, sampleInput } from '../../support/builders/sites/content.ts'
import { FAQ, livelySite, SPECS } from '../../support/builders/sites/lively.ts'
import { startBrowser, type VisitorOptions, visit } from '../../support/judges/browser.ts'
import { kept, type Served, serveSite } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 300_000

spec('a site on paper', (t) => {
  let browser: Browser
  let stuff: Materials
  let served: Served
  t.before(async () => {
    ;[browser, stuff] = await Promise.all([startBrowser(), materials()])
    served = await serveSite(stuff)
  })
  t.after(async () => {
    await browser?.close()
    await served?.end()
  })
  const show = (value: Content) => served.show(renderSite(sampleInput(value, stuff)).files)
  const opened = (options: Partial<VisitorOptions> = {}) =>
    visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true, width: 1440, ...options })
  /** Lines that stand on paper, wherever they are. */
  const PRINTED = `document.body.innerText`
  const HIDDEN = [
    'nav',
    '.top',
    '.menu',
    '.dock',
    '.actions',
    '.reel',
    '.film',
    '.run',
    '.write',
    '.shelf',
    '.progress',
  ]

  for (const layout of LAYOUTS)
    t(
      `${layout} is a document on paper: under a letterhead, with every answer and every fact, and nothing of the screen`,
      async () => {
        show(livelySite(layout, layout === 'sidenav' ? 'voltage' : 'harbor'))
        const { page, end } = await opened({ width: 673 })
        await page.goto('/')
        assert.is(await page.locator('.letter').isVisible(), false, 'the letterhead is none of the screen’s')
        await page.emulateMedia({ media: 'print' })
        const text = await page.evaluate<string>(PRINTED)
        const wanted = [
          'Rua do Almada 12',
          '+351 220 000 000',
          'atelier@voss.example',
          'https://voss.example/',
          ...FAQ.flatMap(({ question, answer }) => [question, answer]),
          ...SPECS.map((line) => line.split(': ')[1] ?? ''),
        ]
        assert.equal(
          wanted.filter((line) => !text.includes(line)),
          [],
          text,
        )
        assert.ok(text.trim().startsWith('Voss Ceramics'), text.slice(0, 80))
        for (const selector of HIDDEN) assert.is(await page.locator(`${selector}:visible`).count(), 0, selector)
        const tones = await page.evaluate<string[]>(
          `[...document.images].filter((one) => one.checkVisibility()).map((one) => getComputedStyle(one).filter)`,
        )
        assert.ok(tones.length > 0 && tones.every((tone) => tone === 'none'), tones.join())
        await kept(page, `print-${layout}`)
        const pdf = await page.pdf({ format: 'A4' })
        const pages = pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
        assert.ok(pages >= 1 && pages <= 10, `${pages} pages`)
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )
})
