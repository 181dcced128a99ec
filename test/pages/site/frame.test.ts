/** What stands around the sections of a website, as a visitor meets it: the first screen, the menu of a phone, what is touched. */
import type { Browser, Page } from 'playwright-core'
import type { Content, Layout } from '../../../crds/site/content/content.ts'
import { LAYOUTS } from '../../../crds/site/content/meta.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { type Materials, materials, sampleInput, withHan } from '../../support/builders/sites/content.ts'
import { BUSINESSES, nameAlso } from '../../support/businesses/all.ts'
import { GRILL } from '../../support/businesses/goods.ts'
import { startBrowser, visit } from '../../support/judges/browser.ts'
import { type Served, serveSite } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 600_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const PHONE = { width: 360, height: 800 }
const DESK = { width: 1440, height: 900 }
/** As wide as a finger. */
const TARGET_PX = 44
/** In a plain run every layout meets one business in so many; another layout, others. */
const ONE_IN = isFull ? 1 : 3
const ALL = Object.values(BUSINESSES).flat()

const PAGES = [
  { slug: '', title: 'Casa', sections: ['hero' as const, 'products' as const, 'pricing' as const] },
  { slug: 'opiniones', title: 'Opiniones', sections: ['testimonials' as const] },
  { slug: 'nosotros', title: 'Nosotros', sections: ['badges' as const, 'hours' as const, 'contact' as const] },
]
const grill = (layout: Layout): Content => ({
  ...GRILL,
  meta: { ...GRILL.meta, layout, pages: PAGES },
  translations: [{ lang: 'en' }],
})

/** Where the opening's headline, first line of lede and action end, and where the screen does above a bar at its foot. */
type Fold = { headline: number; lede: number; action: number; screen: number }
const FOLD = `(() => {
  const bottom = (one) => one === null ? 0 : one.getBoundingClientRect().bottom
  const opening = document.querySelector('.hero')
  const lede = opening.querySelector('.lede')
  const line = lede === null ? 0 : lede.getBoundingClientRect().top + 1.45 * Number.parseFloat(getComputedStyle(lede).fontSize)
  const dock = document.querySelector('.dock')
  const docked = dock !== null && dock.getBoundingClientRect().width > innerWidth / 2
  return {
    headline: bottom(opening.querySelector('h1')),
    lede: line,
    action: bottom(opening.querySelector('.actions>a,.go')),
    screen: docked ? dock.getBoundingClientRect().top : innerHeight,
  }
})()`

/** What has the focus: its words, whether it is in the place asked for, seen whole, and as high as a finger. */
type Focused = { text: string; within: boolean; seen: boolean; height: number }
const focused = (place: string): string => `(() => {
  const one = document.activeElement
  const { left, right, top, bottom, height } = one.getBoundingClientRect()
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
  const seen = hit !== null && one.contains(hit) && left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
  return { text: one.textContent.trim().replace(/\\s+/g, ' '), within: one.closest('${place}') !== null, seen, height }
})()`

/** All that Tab leads to from here on as long as it stays in that place. */
const tabbedThrough = async (page: Page, place: string): Promise<Focused[]> => {
  const found: Focused[] = []
  for (;;) {
    await page.keyboard.press('Tab')
    const one = await page.evaluate<Focused>(focused(place))
    if (!one.within) return found
    found.push(one)
  }
}

const SMALL = `[...document.querySelectorAll('.top a,.foot a,.ways a,.dock a,.actions a,.go,.ask,.button,.chat,summary,.pager a')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().height > 0)
  .filter((one) => one.getBoundingClientRect().height < ${TARGET_PX - 0.5})
  .map((one) => one.className + ' ' + one.textContent.trim() + ' ' + one.getBoundingClientRect().height)`

spec('around the sections of a website', (t) => {
  let browser: Browser
  let stuff: Materials
  let served: Served
  t.before(async () => {
    ;[browser, stuff] = await Promise.all([startBrowser(), materials()])
    nameAlso(stuff.images)
    served = await serveSite(stuff)
  })
  t.after(async () => {
    await browser?.close()
    await served?.end()
  })
  const show = async (content: Content): Promise<void> =>
    served.show(renderSite(await withHan(sampleInput(content, stuff), stuff)).files)

  /** What of an opening stands below the first screen. */
  const belowFold = async (page: Page, window: typeof DESK): Promise<string[]> => {
    await page.setViewportSize(window)
    await page.goto('/')
    await page.evaluate('document.fonts.ready')
    const { screen, ...parts } = await page.evaluate<Fold>(FOLD)
    assert.ok(parts.headline > 0 && parts.action > 0, 'there is a headline and an action')
    return Object.entries(parts).flatMap(([part, bottom]) =>
      bottom > screen ? [`${part} ends at ${Math.round(bottom)} of ${screen} in ${window.width}`] : [],
    )
  }

  for (const [row, layout] of LAYOUTS.entries())
    t(
      `headline, first words and action of ${layout} stand on the first screen, of a desk and of a phone`,
      async () => {
        const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
        for (const business of ALL.filter((_, at) => (at + row) % ONE_IN === 1 % ONE_IN)) {
          await show({ ...business, meta: { ...business.meta, layout } })
          for (const window of [DESK, PHONE]) assert.equal(await belowFold(page, window), [], business.meta.companyName)
        }
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )

  for (const layout of LAYOUTS)
    t(
      `from the top of ${layout} on a phone the keyboard leads to pages, languages, phone and action, without a script`,
      async () => {
        const { page, end } = await visit(browser, { baseURL: served.baseURL })
        await page.setViewportSize(PHONE)
        await show(grill(layout))
        await page.goto('/')
        const [opener, place] = layout === 'monolith' ? ['.toindex', '.foot'] : ['.menu>summary', '.panel']
        await page.locator(opener).focus()
        await page.keyboard.press('Enter')
        const found = await tabbedThrough(page, place)
        const texts = found.map(({ text }) => text)
        for (const wanted of ['Casa', 'Opiniones', 'Nosotros', 'Español', 'English', '+34 943 000 000'])
          assert.ok(
            texts.some((text) => text.endsWith(wanted)),
            `${wanted} among ${texts.join(', ')}`,
          )
        assert.equal(
          found.filter(({ seen, height }) => !seen || height < TARGET_PX - 0.5),
          [],
        )
        if (layout !== 'monolith') assert.is(texts.at(-1), 'Reservar')
        const hours = page.locator(`${place} .hrs`)
        assert.ok(await hours.isVisible())
        assert.match(await hours.innerText(), 'jue–sáb 13:00–16:00 · 20:30–23:00')
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )

  t(
    'what is touched on a phone is as high as a finger',
    async () => {
      const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
      await page.setViewportSize(PHONE)
      for (const layout of LAYOUTS) {
        await show({ ...GRILL, meta: { ...GRILL.meta, layout } })
        await page.goto('/')
        assert.equal(await page.evaluate<string[]>(SMALL), [], layout)
      }
      await end()
    },
    { timeoutMs: TIMEOUT_MS },
  )
})
