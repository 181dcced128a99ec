/** The pages of reviewers in a real browser: two versions side by side from their very bytes, nobody kept out, hostile words of a site stay words. */
import { createServer } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { pageAnswer } from '../../../api/http/pages.ts'
import { provenanceSection } from '../../../api/site/drafting/provenance-view.ts'
import { certificatePage } from '../../../api/site/reviewing/certificate-view.ts'
import { type QueuedReview, type QueueFacts, queuePage } from '../../../api/site/reviewing/queue-view.ts'
import { type ReviewFacts, reviewPage } from '../../../api/site/reviewing/review-view.ts'
import { sha256Of } from '../../../controllers/store/blobs.ts'
import type { Content } from '../../../crds/site/content/content.ts'
import { CERTIFICATE_FORM } from '../../../crds/site/reviewing/certificate.ts'
import type { ReviewRound } from '../../../crds/site/reviewing/rounds.ts'
import { HIT, HOSTILE } from '../../support/builders/hostile.ts'
import { materials } from '../../support/builders/sites/content.ts'
import { AUDIO, GRILL, JEWEL, TEA } from '../../support/businesses/goods.ts'
import { LAW } from '../../support/businesses/services.ts'
import { barriers, picture, startBrowser, visit } from '../../support/judges/browser.ts'
import { type Desk, listening, startDesk } from '../../support/judges/sites/desk.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'

const at = '2026-11-22T10:00:00.000Z'
const provenance = provenanceSection({
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
})
const TIMEOUT_MS = 180_000

const edited: Content = {
  ...LAW,
  hero: { ...LAW.hero, title: 'Tax advice for companies that cross the border', image: 'asset:w1', alt: 'Harbour' },
  pricing: (LAW.pricing ?? []).map((tier, index) => (index === 1 ? { ...tier, price: 'from €2,400' } : tier)),
  contact: {
    ...LAW.contact,
    email: 'hello@okafor-lindqvist.example',
    booking: 'https://book.elsewhere.example/okafor',
  },
}

const round = (
  number: number,
  digest: string,
  decision: 'approve' | 'request_changes' | null,
  note = '',
): ReviewRound => ({
  round: number,
  submission: { seq: number * 10, at, digest, neutral: digest, by: 'demo' },
  decision: decision && { seq: number * 10 + 1, at, submission: number * 10, decision, note, by: 'reviewer' },
  openings: [{ at, submission: number * 10, by: 'reviewer' }],
})

spec("the reviewer's page", (t) => {
  let browser: Browser
  let desk: Desk
  let [first, second] = ['', '']
  t.before(async () => {
    const stuff = await materials(640)
    const { p1, p2, p3 } = stuff.images
    for (const key of ['w1', 'w2', 'w3', 't1', 't2', 't3']) {
      const image = { 1: p1, 2: p2, 3: p3 }[key[1] ?? '']
      if (image) stuff.images[key] = image
    }
    ;[browser, desk] = await Promise.all([startBrowser(), startDesk(stuff)])
    first = desk.keep(LAW)
    second = desk.keep(edited)
  })
  t.after(async () => {
    await browser?.close()
    await desk?.end()
  })

  /** What is far from the window is not drawn, so the window is made as tall as the page. */
  const keep = async (page: Page, name: string) => {
    if (process.env.BOTTEGA_TEST_PICTURES === undefined) return
    const { width = 1440 } = page.viewportSize() ?? {}
    await page.setViewportSize({ width, height: await page.evaluate<number>('document.documentElement.scrollHeight') })
    await page.waitForTimeout(3_000)
    await picture(page, name)
  }

  type Change = Partial<ReviewFacts> & { before?: string | null; after?: string; file?: string }
  const factsOf = async ({ before = first, after = second, file = 'index.html', ...change }: Change = {}) => {
    const comparison = await desk.compare(before, after)
    const page = comparison.pages.find((one) => one.file === file)
    if (!page) throw new Error(`there is no ${file}`)
    const past =
      before === null
        ? []
        : [round(1, before, 'approve', 'Good.'), round(2, after, 'request_changes', 'The fees\nare not right.')]
    const now = round(past.length + 1, after, null)
    const facts: ReviewFacts = {
      site: { id: 'site-4f2', account: 'demo', company: 'Okafor Lindqvist', domain: 'shop.sites.test', url: null },
      ...{ rounds: [...past, now], round: now, base: past[0] ?? null, comparison, page },
      looked: { page: page.path, width: null, against: 'approved' },
      diff: await desk.words(before, after, file),
      previews: { before: before && desk.previewOf(before), after: desk.previewOf(after) },
      ...{ provenance, isOwn: false, formToken: 'token', path: '/review/token' },
      ...change,
    }
    return facts
  }
  const open = async (page: Page, html: string) => {
    desk.show(html)
    await page.goto('/review/token')
  }
  const inkOf = async (page: Page, place: number): Promise<{ spread: number; print: string }> => {
    const shot = await page.locator('.shot').nth(place).screenshot()
    const { channels } = await sharp(shot).stats()
    return { spread: Math.max(...channels.map(({ stdev }) => stdev)), print: sha256Of(shot) }
  }
  /** The frames that wait to be near are brought near. */
  const walk = (page: Page) =>
    page.evaluate(`(async () => {
      for (let y = 0; y < document.body.scrollHeight; y += 500) { window.scrollTo(0, y); await new Promise((done) => setTimeout(done, 60)) }
      window.scrollTo(0, 0)
    })()`)

  const CASES: [name: string, change: Change][] = [
    ['open', {}],
    ['fees', { file: 'fees/index.html' }],
    ['first', { before: null }],
    ['own', { isOwn: true }],
  ]
  for (const [name, change] of CASES) {
    for (const width of [360, 768, 1440]) {
      t(
        `keeps nobody out and fits (${name}, ${width})`,
        async () => {
          const html = reviewPage(await factsOf(change))
          const visitor = await visit(browser, {
            baseURL: desk.baseURL,
            width,
            javaScriptEnabled: true,
            dark: name === 'own',
          })
          await open(visitor.page, html)
          await walk(visitor.page)
          assert.equal(await barriers(visitor.page), [])
          const over = await visitor.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          assert.ok(over <= 0, `sticks out by ${over} px`)
          assert.is(await visitor.page.locator('textarea').count(), name === 'own' ? 0 : 1)
          await keep(visitor.page, `review-${name}-${width}`)
          assert.equal(visitor.outside, [])
          await visitor.end()
        },
        { timeoutMs: TIMEOUT_MS },
      )
    }
  }

  t(
    'shows the very bytes of both versions in windows of 1440, 768 and 360 pixels, as wide as their column',
    async () => {
      const visitor = await visit(browser, { baseURL: desk.baseURL, width: 1440, javaScriptEnabled: true })
      const answers: [url: string, status: number][] = []
      visitor.page.on('response', (answer) => answers.push([answer.url(), answer.status()]))
      await open(visitor.page, reviewPage(await factsOf()))
      await walk(visitor.page)
      const seen = await visitor.page.evaluate<[number, number, boolean][]>(
        `[...document.querySelectorAll('.shot')].map((shot) => {
          const frame = shot.querySelector('iframe'), inner = frame.getBoundingClientRect(), outer = shot.getBoundingClientRect()
          return [frame.clientWidth, frame.clientHeight, Math.abs(inner.width - outer.width) <= 3]
        })`,
      )
      assert.equal(seen, [
        [1440, 900, true],
        [1440, 900, true],
        [768, 1024, true],
        [768, 1024, true],
        [360, 740, true],
        [360, 740, true],
      ])
      const sources = visitor.page
        .frames()
        // films have frames of their own within them
        .filter((frame) => frame.parentFrame() === visitor.page.mainFrame())
        .map((frame) => new URL(frame.url()).pathname)
      assert.equal(
        sources,
        [0, 1, 2].flatMap(() => [desk.previewOf(first), desk.previewOf(second)]),
      )
      assert.is(await visitor.page.locator('iframe[title][sandbox=""]').count(), 6)
      // nobody can look into them but by eye: something is drawn in each, and not the same in both
      for (const place of [0, 2, 4]) {
        await visitor.page.locator('.shot').nth(place).scrollIntoViewIfNeeded()
        await eventually(`pair ${place} to be drawn`, async () => {
          const [before, after] = [await inkOf(visitor.page, place), await inkOf(visitor.page, place + 1)]
          return before.spread > 20 && after.spread > 20 && before.print !== after.print
        })
      }
      assert.equal(
        answers.filter(([, status]) => status >= 400),
        [],
      )
      assert.ok(
        answers.some(([url]) => /\.woff2$/.test(url)) && answers.some(([url]) => /\.(avif|webp|jpg)$/.test(url)),
      )
      await visitor.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t(
    'nothing runs in a frame, and no other origin may frame a preview',
    async () => {
      const hostile = desk.keep({ ...LAW, hero: { title: '<script>top.ran = true</script>' } })
      const visitor = await visit(browser, { baseURL: desk.baseURL, javaScriptEnabled: true })
      await open(visitor.page, reviewPage(await factsOf({ after: hostile })))
      await walk(visitor.page)
      assert.is(await visitor.page.evaluate<boolean>('globalThis.ran === true'), false)

      const foreign = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end(`<iframe src="${desk.baseURL}${desk.previewOf(first)}"></iframe>`)
      })
      const elsewhere = await listening(foreign)
      const refused: string[] = []
      visitor.page.on('console', (message) => refused.push(message.text()))
      await visitor.page.goto(elsewhere, { waitUntil: 'load' })
      assert.match(visitor.page.frames()[1]?.url() ?? '', /^chrome-error:/, 'a stranger frames it')
      assert.ok(
        refused.some((text) => /frame-ancestors/.test(text)),
        refused.join('\n'),
      )
      await new Promise((resolve) => foreign.close(resolve))
      await visitor.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t(
    'is walked by the keyboard, and its tabs are links that need no script',
    async () => {
      const visitor = await visit(browser, { baseURL: desk.baseURL, javaScriptEnabled: false })
      await open(visitor.page, reviewPage(await factsOf()))
      const tab = visitor.page.locator('#pictures nav[aria-label=Page] a', { hasText: '/fees/' })
      assert.is(await tab.getAttribute('href'), '/review/token?page=%2Ffees%2F#pictures')
      assert.match((await tab.textContent()) ?? '', /changed/)
      const people = visitor.page.locator('#pictures nav[aria-label=Page] a', { hasText: '/people/' })
      assert.ok((await people.count()) === 1)
      await tab.focus()
      await visitor.page.keyboard.press('Enter')
      await visitor.page.waitForURL(/page=%2Ffees%2F/)
      await visitor.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t('says what changed: words, prices, contacts, and a host that is new', async () => {
    const html = reviewPage(await factsOf({ file: 'fees/index.html' }))
    assert.match(html, /<del>1,800<\/del>|from €<del>1<\/del>|<del>1<\/del>/)
    assert.match(html, /Nothing of this site led there before:<\/strong> book\.elsewhere\.example/)
    assert.match(
      html,
      /<th scope="row">Fixed question<\/th><td data-name="Before"><del>from €1,800<\/del><\/td><td data-name="Now"><ins>from €2,400/,
    )
    assert.match(html, /contact\.email[\s\S]*hello@okafor-lindqvist\.example/)
  })

  const queued = (change: Partial<QueuedReview> = {}): QueuedReview => ({
    ...{ site: 'site-4f2', account: 'demo', company: 'Okafor Lindqvist', domain: 'okafor.sites.test' },
    ...{
      url: 'https://b.test/review/token',
      round: 3,
      digest: '9f'.repeat(32),
      submitted_at: at,
      submitted_by: 'demo',
    },
    ...{ changed: ['hero', 'pricing'], warnings: 2, opened: [{ by: 'reviewer', at }], own: false },
    ...{ decision: null, decided_by: null, decided_at: null, note: null },
    ...change,
  })
  const queue = (change: Partial<QueueFacts> = {}): QueueFacts => ({
    ...{ email: 'reviewer@demo.test', now: '2026-11-25T12:00:00.000Z', state: 'open', account: null },
    reviews: [
      queued(),
      queued({ company: 'Taberna do Largo', changed: null, opened: [], warnings: 0, round: 1 }),
      queued({ own: true, changed: [] }),
    ],
    ...{ total: 3, page: { limit: 50, offset: 0 } },
    ...change,
  })
  const QUEUES: [name: string, facts: QueueFacts][] = [
    ['waiting', queue()],
    ['empty', queue({ reviews: [], total: 0, account: 'demo' })],
    [
      'decided',
      queue({
        state: 'decided',
        total: 120,
        page: { limit: 50, offset: 50 },
        reviews: [
          queued({
            decision: 'request_changes',
            decided_by: 'reviewer',
            decided_at: at,
            note: 'The fees\nare not right.',
          }),
        ],
      }),
    ],
  ]
  for (const [name, facts] of QUEUES) {
    for (const width of [360, 768, 1440]) {
      t(
        `the queue keeps nobody out and fits (${name}, ${width})`,
        async () => {
          const visitor = await visit(browser, {
            baseURL: desk.baseURL,
            width,
            javaScriptEnabled: true,
            dark: name === 'decided',
          })
          await open(visitor.page, queuePage(facts))
          assert.equal(await barriers(visitor.page), [])
          const over = await visitor.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          assert.ok(over <= 0, `sticks out by ${over} px`)
          await picture(visitor.page, `queue-${name}-${width}`)
          await visitor.end()
        },
        { timeoutMs: TIMEOUT_MS },
      )
    }
  }

  for (const [lang, content] of [
    ['en', LAW],
    ['es', GRILL],
    ['zh-Hans', AUDIO],
    ['zh-Hant', TEA],
  ] as const) {
    t(
      `the certificate keeps nobody out and fits, on a phone and on paper (${lang})`,
      async () => {
        const digest = desk.keep(content)
        const manifest = desk.manifestOf(digest)
        const certificate = {
          ...{
            form: CERTIFICATE_FORM as typeof CERTIFICATE_FORM,
            issuer: 'https://b.test',
            site: 'site-4f2',
            digest,
            submitted: { digest, at },
          },
          ...{ approved: { role: 'reviewer' as const, by: 'reviewer-0123456789abcdef', at }, files: manifest.files },
        }
        const facts = {
          certificate,
          manifest,
          jws: 'e30.'.repeat(200),
          keysUrl: 'https://b.test/.well-known/bottega-keys.json',
        }
        for (const width of [360, 1440]) {
          const visitor = await visit(browser, { baseURL: desk.baseURL, width, javaScriptEnabled: true })
          await open(visitor.page, certificatePage({ ...facts, jsonPath: '/certificates/site-4f2/x/certificate.json' }))
          assert.equal(await barriers(visitor.page), [])
          const over = await visitor.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          assert.ok(over <= 0, `sticks out by ${over} px`)
          assert.is(await visitor.page.locator('tbody tr').count(), manifest.files.length)
          await picture(visitor.page, `certificate-${lang}-${width}`)
          await visitor.end()
        }
      },
      { timeoutMs: TIMEOUT_MS },
    )
  }

  t(
    'shows hostile words as words, in the queue, in what changed and in what is said',
    async () => {
      const visitor = await visit(browser, { baseURL: desk.baseURL, javaScriptEnabled: true })
      await visitor.page.addInitScript(`globalThis.${HIT} = () => { globalThis.ran = true }`)
      const facts = await factsOf()
      for (const [, payload] of HOSTILE) {
        const change = { what: payload, before: payload, after: payload }
        const link = { is: 'new' as const, url: payload, host: payload, isHost: true, pages: [payload], words: payload }
        const listed = <T>(items: T[]) => ({ items, left: 0 })
        const changes = {
          ...{ loads: listed([link]), links: listed([link, { ...link, isHost: false }]) },
          ...{ prices: listed([change]), contacts: listed([change]), heads: listed([change]) },
        }
        const lines = [
          { is: 'gone' as const, text: payload },
          { is: 'changed' as const, pieces: [{ is: 'new' as const, text: payload }] },
        ]
        const html = reviewPage({
          ...facts,
          site: { ...facts.site, company: payload, domain: payload },
          comparison: {
            ...facts.comparison,
            changes,
            sections: [payload],
            warnings: [{ code: payload, pointer: payload, detail: payload, page: payload }],
          },
          diff: { lines, isWhole: false, gone: 1, added: 1 },
        })
        for (const page of [
          html,
          queuePage(
            queue({ account: payload, reviews: [queued({ company: payload, note: payload, changed: [payload] })] }),
          ),
        ]) {
          await open(visitor.page, page)
          assert.is(await visitor.page.evaluate<boolean>(`globalThis.ran === true`), false, payload)
        }
      }
      assert.equal(visitor.outside, [])
      await visitor.end()
    },
    { timeoutMs: 2 * TIMEOUT_MS },
  )

  t('is refused by its own policy whatever would run, and frames what is ours alone', () => {
    assert.match(pageAnswer(200, '').headers?.['content-security-policy'] ?? '', /script-src 'none'/)
    assert.not.match(pageAnswer(200, '').headers?.['content-security-policy'] ?? '', /frame-src/)
  })

  t(
    'two businesses, before and after, for a person to look at',
    async () => {
      const visitor = await visit(browser, { baseURL: desk.baseURL, width: 1440, javaScriptEnabled: true })
      for (const [name, content, layout] of [
        ['grill', GRILL, 'editorial'],
        ['jewel', JEWEL, 'showcase'],
      ] as const) {
        const before = desk.keep(content)
        const after = desk.keep({ ...content, meta: { ...content.meta, layout } })
        await open(visitor.page, reviewPage(await factsOf({ before, after })))
        await walk(visitor.page)
        assert.is(visitor.page.frames().length, 7)
        await keep(visitor.page, `review-${name}`)
      }
      await visitor.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )
})
