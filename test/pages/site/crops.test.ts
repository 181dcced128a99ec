/** What a hero loses of its pictures: of one, of two and of three, in every layout, by a real browser's geometry. */
import type { Browser, Page } from 'playwright-core'
import type { Content, Layout } from '../../../crds/site/content/content.ts'
import { LAYOUTS } from '../../../crds/site/content/meta.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { type Materials, materials, paint, sampleInput, transcoded } from '../../support/builders/sites/content.ts'
import { nameAlso } from '../../support/businesses/all.ts'
import { GRILL } from '../../support/businesses/goods.ts'
import { startBrowser, visit } from '../../support/judges/browser.ts'
import { kept, type Served, serveSite, sticksOut } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 600_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const PHONE = { width: 360, height: 800 }
const MIDDLE = { width: 768, height: 1024 }
const DESK = { width: 1440, height: 900 }
const WINDOWS = [PHONE, MIDDLE, DESK]

/** Pictures that a hero is given: upright, square, wide, and small. */
const SHAPES = {
  tall: [900, 1350],
  square: [1300, 1300],
  wide: [1600, 900],
  photo: [1500, 1000],
  small: [560, 420],
} as const
type Shape = keyof typeof SHAPES
const ALONE: readonly Shape[] = ['tall', 'square', 'wide', 'small']
/** Several of them together; the first leads. */
const TOGETHER: readonly (readonly Shape[])[] = [
  ['photo', 'photo'],
  ['wide', 'tall'],
  ['tall', 'wide'],
  ['tall', 'tall'],
  ['small', 'photo'],
  ['photo', 'photo', 'photo'],
  ['tall', 'photo', 'photo'],
  ['wide', 'tall', 'tall'],
  ['tall', 'tall', 'tall'],
  ['square', 'wide', 'tall'],
  ['wide', 'wide', 'small'],
]
/** In a plain run a layout meets one in so many; another layout, others. */
const ONE_IN = isFull ? 1 : 2
/** Layouts in which one picture opens the page, and the others come later. */
const ONE_ALONE: readonly Layout[] = ['showcase', 'narrative']

/** A subject near the edge, in percent. */
const FOCUS = { x: 82, y: 22 }

/** A crop takes at most 40 % of a picture, but for the rounding of a pixel; none is shown larger than 1.25 times. */
const LOST_MOST = 0.41
const ENLARGED_MOST = 1.26

/** How much of a picture is lost, how many times its own width it is shown, and where its subject is in the frame, 0 to 1. */
type Cropped = { lost: number; enlarged: number; x: number; y: number }
const CROPPED = `[...document.querySelectorAll('.hero .im img')].map((one) => {
  const { width, height } = one.getBoundingClientRect()
  const [w, h] = [Number(one.getAttribute('width')), Number(one.getAttribute('height'))]
  const scale = Math.max(width / w, height / h)
  const [px, py] = getComputedStyle(one).objectPosition.split(' ').map((part) => Number.parseFloat(part) / 100)
  const at = (point, own, place, position) => (point * own * scale - position * (own * scale - place)) / place
  return {
    lost: 1 - (width * height) / (w * scale * h * scale),
    enlarged: scale,
    x: at(${FOCUS.x / 100}, w, width, px),
    y: at(${FOCUS.y / 100}, h, height, py),
  }
})`

/** Where an opening's headline and action end, and the screen. */
const FOLD = `(() => {
  const bottom = (one) => one === null ? 0 : one.getBoundingClientRect().bottom
  const dock = document.querySelector('.dock')
  const docked = dock !== null && dock.getBoundingClientRect().width > innerWidth / 2
  const screen = docked ? dock.getBoundingClientRect().top : innerHeight
  return ['.hero h1', '.hero .actions>a,.hero .go']
    .map((one) => Math.round(bottom(document.querySelector(one))))
    .filter((one) => one === 0 || one > screen)
})()`

const bad = ({ lost, enlarged, x, y }: Cropped): boolean =>
  lost > LOST_MOST || enlarged > ENLARGED_MOST || Math.min(x, y) < 0 || Math.max(x, y) > 1

spec('the pictures of a hero', (t) => {
  let browser: Browser
  let stuff: Materials
  let served: Served
  t.before(async () => {
    ;[browser, stuff] = await Promise.all([startBrowser(), materials()])
    nameAlso(stuff.images)
    for (const [key, [width, height]] of Object.entries(SHAPES))
      stuff.images[key] = await transcoded(await paint(7, width, height), stuff.blobs)
    served = await serveSite(stuff)
  })
  t.after(async () => {
    await browser?.close()
    await served?.end()
  })

  const show = (layout: Layout, [first, ...others]: readonly Shape[]): void => {
    const images = others.map((shape) => ({ image: `asset:${shape}`, alt: shape, focus: FOCUS }))
    const hero = { ...GRILL.hero, image: `asset:${first}`, alt: 'Brasa', focus: FOCUS, images }
    const content: Content = { ...GRILL, hero, meta: { ...GRILL.meta, layout } }
    served.show(renderSite(sampleInput(content, stuff)).files)
  }

  /** What is wrong with an opening in each window. */
  const judged = async (page: Page, count: number, named: string): Promise<string[]> => {
    const found: string[] = []
    for (const window of WINDOWS) {
      await page.setViewportSize(window)
      await page.goto('/')
      await page.evaluate('document.fonts.ready')
      const seen = await page.evaluate<Cropped[]>(CROPPED)
      if (seen.length !== count) found.push(`${named}: ${seen.length} pictures of ${count}`)
      for (const one of seen.filter(bad)) found.push(`${named} at ${window.width}: ${JSON.stringify(one)}`)
      const below = window === MIDDLE ? [] : await page.evaluate<number[]>(FOLD)
      if (below.length > 0) found.push(`${named} at ${window.width}: headline or action end at ${below.join(', ')}`)
      found.push(...(await sticksOut(page)).map((one) => `${named} at ${window.width} sticks out: ${one}`))
      await kept(page, `crop-${named.replace(/\W+/g, '-')}-${window.width}`)
    }
    return found
  }

  for (const layout of LAYOUTS)
    t(
      `${layout} loses at most two fifths of its only picture, whatever its shape, enlarges none, and keeps its subject`,
      async () => {
        const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
        const found: string[] = []
        for (const shape of ALONE) {
          show(layout, [shape])
          found.push(...(await judged(page, 1, `${layout} ${shape}`)))
        }
        await end()
        assert.equal(found, [])
      },
      { timeoutMs: TIMEOUT_MS },
    )

  for (const [row, layout] of LAYOUTS.entries())
    t(
      `${layout} loses no more of two or three of them, enlarges none, and leaves the first screen its action`,
      async () => {
        const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
        const found: string[] = []
        for (const shapes of TOGETHER.filter((_, at) => (at + row) % ONE_IN === 0)) {
          show(layout, shapes)
          const count = ONE_ALONE.includes(layout) ? 1 : shapes.length
          found.push(...(await judged(page, count, `${layout} ${shapes.join(' ')}`)))
        }
        await end()
        assert.equal(found, [])
      },
      { timeoutMs: TIMEOUT_MS },
    )

  t(
    'that stand together lose no more on paper',
    async () => {
      const { page, end } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true, width: 673 })
      const found: string[] = []
      for (const layout of LAYOUTS.filter((one) => !ONE_ALONE.includes(one))) {
        for (const shapes of TOGETHER.slice(6, 10)) {
          show(layout, shapes)
          await page.emulateMedia({ media: 'print' })
          await page.goto('/')
          const seen = await page.evaluate<Cropped[]>(CROPPED)
          assert.is(seen.length, shapes.length)
          for (const one of seen.filter(bad)) found.push(`${layout} ${shapes.join(' ')}: ${JSON.stringify(one)}`)
        }
      }
      await end()
      assert.equal(found, [])
    },
    { timeoutMs: TIMEOUT_MS },
  )
})
