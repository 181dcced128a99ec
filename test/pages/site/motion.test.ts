/** What moves on a site in a real browser: under a pointer, by itself, under a finger, and for whoever wants no motion. */
import type { Browser, Page } from 'playwright-core'
import type { Content } from '../../../crds/site/content/content.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { type Materials, materials, sampleInput } from '../../support/builders/sites/content.ts'
import { livelySite } from '../../support/builders/sites/lively.ts'
import { startBrowser, type VisitorOptions, visit } from '../../support/judges/browser.ts'
import { findings, kept, type Served, serveSite, sticksOut } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 300_000

spec('what moves on a site', (t) => {
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
  const styleOf = (page: Page, selector: string, name: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${name}')`,
    )
  const GOODS = '#products .goods.im'

  t(
    'a picture under the pointer comes nearer by three in a hundred within its frame, and only where motion is wanted',
    async () => {
      show(livelySite('classic', 'craft', { imageHover: 'zoom' }))
      for (const moves of [true, false]) {
        const { page, end } = await opened({ moves })
        await page.goto('/')
        const frame = page.locator(GOODS).first()
        const before = await frame.boundingBox()
        await frame.hover()
        const scale = () => styleOf(page, `${GOODS} img`, 'transform')
        if (moves) await eventually('the zoom', async () => (await scale()) === 'matrix(1.03, 0, 0, 1.03, 0, 0)')
        assert.is(await scale(), moves ? 'matrix(1.03, 0, 0, 1.03, 0, 0)' : 'none')
        assert.is(await styleOf(page, `${GOODS} img`, 'transition-duration'), moves ? '0.4s' : '0s')
        assert.is(await styleOf(page, `${GOODS} picture`, 'overflow-x'), 'hidden')
        const after = await frame.boundingBox()
        assert.equal([after?.width, after?.height], [before?.width, before?.height])
        await end()
      }
    },
  )

  t('it gives way to the second picture, or comes nearer where there is none', async () => {
    show(livelySite('showcase', 'market', { imageHover: 'swap' }))
    const { page, end } = await opened({ moves: true })
    await page.goto('/')
    const turning = page.locator(`${GOODS}.turns`)
    assert.is(await turning.count(), 1, 'one of the goods has a second picture')
    assert.ok((await page.locator(`${GOODS}.nears`).count()) >= 4)
    assert.is(await styleOf(page, `${GOODS} .over`, 'opacity'), '0')
    await turning.hover()
    await eventually('the second', async () => (await styleOf(page, `${GOODS} .over`, 'opacity')) === '1')
    const [first, second] = await Promise.all(
      ['> picture img', '.over img'].map((one) => page.locator(`${GOODS} ${one}`).first().boundingBox()),
    )
    assert.equal(second, first)
    assert.equal([await findings(page), await sticksOut(page)], [[], []])
    await end()
  })

  t('a finger finds both pictures side by side, and nothing that waits for a pointer', async () => {
    show(livelySite('classic', 'studio', { imageHover: 'swap' }))
    const { page, end } = await opened({ moves: true, touch: true, width: 360 })
    await page.goto('/')
    const [place, first, second] = await page.evaluate<{ left: number; right: number; opacity: string }[]>(
      `[...document.querySelectorAll('${GOODS}.turns, ${GOODS}.turns > *')].map((one) => {
        const { left, right } = one.getBoundingClientRect()
        return { left, right, opacity: getComputedStyle(one).opacity }
      })`,
    )
    assert.ok(place && first && second && second.left >= first.right && second.left < place.right, 'it peeks in')
    assert.equal([first?.opacity, second?.opacity], ['1', '1'])
    assert.is(await styleOf(page, `${GOODS}.turns`, 'scroll-snap-type'), 'x mandatory')
    assert.equal(await sticksOut(page), [])
    await page.locator(`${GOODS}.turns`).scrollIntoViewIfNeeded()
    await kept(page, 'media-touch')
    await end()
  })

  t('goods stay as they are where nothing was asked for', async () => {
    show(livelySite('classic', 'studio'))
    const { page, end } = await opened({ moves: true })
    await page.goto('/')
    assert.is(await page.locator('.nears, .turns, .over').count(), 0)
    await end()
  })

  const MOVING = `document.getAnimations().filter((one) => one.playState === 'running').length`

  t(
    'what runs by runs where motion is wanted, is stopped by its control, and stands still for everybody else',
    async () => {
      show(livelySite('classic', 'studio'))
      const moving = await opened({ moves: true })
      await moving.page.goto('/')
      const names = ['animation-name', 'animation-play-state'] as const
      const belt = (page: Page) => Promise.all(names.map((name) => styleOf(page, '.run ul', name)))
      assert.equal(await belt(moving.page), ['by', 'running'])
      assert.is(await moving.page.locator('.run ul:visible').count(), 2)
      const x = async () => (await moving.page.locator('.run ul').first().boundingBox())?.x ?? 0
      const start = await x()
      await eventually('it to go on', async () => (await x()) < start)
      await moving.page.locator('.run .belt').hover()
      assert.equal(await belt(moving.page), ['by', 'paused'])
      await moving.page.mouse.move(0, 0)
      await moving.page.getByLabel('Pause').check()
      await moving.page.evaluate('document.activeElement.blur()')
      assert.equal(await belt(moving.page), ['by', 'paused'])
      assert.not.equal(await styleOf(moving.page, '.button', 'transition-duration'), '0s')
      assert.equal([await findings(moving.page), await sticksOut(moving.page)], [[], []])
      await moving.end()

      const still = await opened({ moves: false })
      for (const layout of ['classic', 'showcase', 'narrative'] as const) {
        show(livelySite(layout, 'studio', { imageHover: 'zoom' }))
        await still.page.goto('/')
        assert.equal(
          [await still.page.evaluate(MOVING), await still.page.locator('.run .stop:visible').count()],
          [0, 0],
        )
        assert.is(await styleOf(still.page, '.button', 'transition-duration'), '0s', layout)
        assert.is(await still.page.locator('.run ul:visible').count(), 1, layout)
        assert.is(await styleOf(still.page, '.run ul', 'animation-name'), 'none', layout)
      }
      await still.end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  t('an announcement names its day to everybody, past or to come: no page knows the time', async () => {
    const { page, end } = await opened({ javaScriptEnabled: false })
    for (const year of [2020, 2090]) {
      show(
        livelySite('classic', 'studio', { announcement: { text: 'Sale ends', countdown: `${year}-12-24T18:00:00Z` } }),
      )
      await page.goto('/')
      assert.is(await page.locator('.announce').innerText(), `Sale ends 24 Dec ${year}`)
    }
    await end()
  })
})
