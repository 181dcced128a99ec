/** The reviewer's page in a real browser: nobody is kept out, and hostile words of a site stay words. */
import type { Browser } from 'playwright-core'
import { pageAnswer } from '../../api/http/pages.ts'
import { provenanceSection } from '../../api/site/drafting/provenance-view.ts'
import { REVIEW_SHEET } from '../../api/site/reviewing/review-style.ts'
import { type ReviewFacts, reviewPage } from '../../api/site/reviewing/review-view.ts'
import { HIT, HOSTILE } from '../support/builders/hostile.ts'
import { barriers, picture, startBrowser, visit } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { serveOnePage } from '../support/stage/onepage.ts'

const at = '2026-11-22T10:00:00.000Z'
const facts = (change: Partial<ReviewFacts> = {}): ReviewFacts => ({
  site: { id: 'site-4f2', account: 'demo', company: 'Voss Ceramics', domain: 'shop.sites.test', url: null },
  submission: { digest: '9f'.repeat(32), at, by: 'demo' },
  decision: null,
  openings: [{ by: 'reviewer', at }],
  diff: { added: ['about/index.html'], changed: ['index.html'], removed: ['old/index.html'], unchanged: 14 },
  sections: ['hero', 'products'],
  warnings: [{ code: 'MISSING_ALT', pointer: '/content/gallery/0', detail: 'the picture has no words for it' }],
  provenance: provenanceSection({
    drafted_at: at,
    values: [
      { pointer: '/hero/lede', text: 'Everybody adores us.', rests_on: null, standing: 'unsupported' },
      {
        pointer: '/contact/email',
        text: 'hello@voss.example.com',
        rests_on: { source: 'brief', page: null, start: 9, end: 31, quote: 'hello@voss.example.com' },
        standing: 'supported',
      },
    ],
  }),
  isOwn: false,
  formToken: 'token',
  path: '/review/token',
  ...change,
})

spec("the reviewer's page", (t) => {
  let browser: Browser
  let served: Awaited<ReturnType<typeof serveOnePage>>
  let html = ''
  let baseURL = ''
  t.before(async () => {
    browser = await startBrowser()
    const { headers } = pageAnswer(200, '')
    served = await serveOnePage({ sheet: REVIEW_SHEET, headers, html: () => html })
    baseURL = served.baseURL
  })
  t.after(async () => {
    await browser.close()
    await served.end()
  })

  const CASES: [name: string, facts: ReviewFacts][] = [
    ['open', facts()],
    ['first', facts({ diff: null, sections: [], warnings: [], openings: [] })],
    [
      'decided',
      facts({ decision: { decision: 'request_changes', by: 'reviewer', at, note: 'The hero\nsays nothing.' } }),
    ],
    ['own', facts({ isOwn: true })],
  ]
  for (const [name, shown] of CASES) {
    for (const width of [390, 1200]) {
      t(
        `keeps nobody out and fits (${name}, ${width})`,
        async () => {
          html = reviewPage(shown)
          const visitor = await visit(browser, { baseURL, width, javaScriptEnabled: true, dark: name === 'own' })
          await visitor.page.goto('/')
          assert.equal(await barriers(visitor.page), [])
          const over = await visitor.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          assert.ok(over <= 0, `sticks out by ${over} px`)
          assert.is(await visitor.page.locator('textarea').count(), name === 'open' || name === 'first' ? 1 : 0)
          await picture(visitor.page, `review-${name}-${width}`)
          await visitor.end()
        },
        { timeoutMs: 60_000 },
      )
    }
  }

  t(
    'shows hostile words as words',
    async () => {
      const visitor = await visit(browser, { baseURL, javaScriptEnabled: true })
      await visitor.page.addInitScript(`globalThis.${HIT} = () => { globalThis.ran = true }`)
      for (const [, payload] of HOSTILE) {
        const warnings = [{ code: payload, pointer: payload, detail: payload }]
        const diff = { added: [payload], changed: [], removed: [], unchanged: 0 }
        const site = { ...facts().site, company: payload, domain: payload }
        html = reviewPage(facts({ site, warnings, diff, sections: [payload] }))
        await visitor.page.goto('/')
        assert.is(await visitor.page.evaluate<boolean>(`globalThis.ran === true`), false, payload)
      }
      assert.equal(visitor.outside, [])
      await visitor.end()
    },
    { timeoutMs: 120_000 },
  )
})
