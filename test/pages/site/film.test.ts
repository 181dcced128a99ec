/** A video of a site in a real browser: it plays in its place once somebody asks for it, and nobody hears of the visitor before. */
import type { Browser, Page } from 'playwright-core'
import type { Content, Layout, Template } from '../../../crds/site/content/content.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { HOSTILE } from '../../support/builders/hostile.ts'
import { type Materials, materials, sampleInput } from '../../support/builders/sites/content.ts'
import { livelySite } from '../../support/builders/sites/lively.ts'
import { startBrowser, type VisitorOptions, visit } from '../../support/judges/browser.ts'
import { findings, kept, type Served, serveSite, sticksOut } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 300_000
const WIDTHS = [360, 768, 1440]
const PLAYER = 'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1'
const LOOKS: [Layout, Template][] = [
  ['classic', 'craft'],
  ['narrative', 'voltage'],
  ['editorial', 'lumen'],
]

spec('a video on a site', (t) => {
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
  const opened = async (options: Partial<VisitorOptions> = {}) => {
    const visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true, width: 1440, ...options })
    const player: string[] = []
    await visitor.page.route('https://www.youtube-nocookie.com/**', (route) => {
      player.push(`${route.request().url()} from ${route.request().headers().referer}`)
      return route.fulfill({ contentType: 'text/html', body: '<title>Player</title><body style="background:#123">' })
    })
    return { ...visitor, player }
  }
  const reel = (page: Page) => page.locator('iframe.reel')

  for (const isByHand of [true, false])
    t(
      `a video plays in its place, by ${isByHand ? 'a click' : 'the keyboard'}, without scripts, and nobody is asked before`,
      async () => {
        show(livelySite('classic', 'studio'))
        const { page, player, outside, end } = await opened({ javaScriptEnabled: false })
        const refused: string[] = []
        page.on('console', (message) => refused.push(message.text()))
        await page.goto('/')
        await reel(page).scrollIntoViewIfNeeded()
        const play = page.frameLocator('iframe.reel').getByRole('link', { name: 'Watch: The second firing' })
        await play.waitFor()
        assert.equal([player, outside, refused], [[], [], []])
        const before = await reel(page).boundingBox()
        if (isByHand) await play.click()
        else {
          await play.focus()
          await page.keyboard.press('Enter')
        }
        await eventually('the player', async () => page.frames()[1]?.url() === PLAYER)
        assert.equal(player, [`${PLAYER} from ${served.baseURL}/`], 'with no more than where the site is')
        const after = await reel(page).boundingBox()
        assert.equal([outside, refused, after?.width, after?.height], [[], [], before?.width, before?.height])
        assert.is(new URL(page.url()).pathname, '/', 'the page stays')
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )

  t('another house than that of the video is not framed, whoever leads there', async () => {
    show(livelySite('classic', 'studio'))
    const { page, player, outside, end } = await opened()
    await page.goto('/')
    const refused: string[] = []
    page.on('console', (message) => refused.push(message.text()))
    await page.evaluate(`document.querySelector('iframe.reel').src = 'https://elsewhere.example/'
      document.querySelector('iframe.reel').removeAttribute('srcdoc')`)
    await eventually('the refusal', async () => refused.some((text) => /frame-src/.test(text)))
    assert.equal([player, outside], [[], []])
    await end()
  })

  t(
    'a hostile title of a video stays a title',
    async () => {
      const { page, player, outside, end } = await opened()
      await page.addInitScript('window.alert = () => { window.top.ran = true }')
      for (const [what, payload] of HOSTILE.filter((_, n) => n % 4 === 0)) {
        show(livelySite('classic', 'studio', { video: { url: 'https://youtu.be/dQw4w9WgXcQ', title: payload } }))
        await page.goto('/')
        const frame = page.frames()[1]
        await frame?.waitForLoadState()
        const inside = await frame?.evaluate<[number, number]>(
          `[document.links.length, document.querySelectorAll('body *, head > :not(meta, title, style)').length]`,
        )
        assert.equal([inside, await page.evaluate('window.ran === true')], [[1, 1], false], what)
      }
      assert.equal([player, outside], [[], []])
      await end()
    },
    { timeoutMs: TIMEOUT_MS },
  )

  for (const [layout, template] of LOOKS)
    t(
      `a video in ${layout} ${template} is 16:9, has a name and keeps nobody out, at every width`,
      async () => {
        show(livelySite(layout, template))
        const { page, end } = await opened()
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          await page.goto('/')
          const { width: wide = 0, height = 1 } = (await reel(page).boundingBox()) ?? {}
          assert.ok(Math.abs(wide / height - 16 / 9) < 0.02, `${wide}×${height} at ${width}`)
          const poster = await page.locator('.screen .im').boundingBox()
          assert.ok(Math.abs((poster?.width ?? 0) - wide) < 1 && Math.abs((poster?.height ?? 0) - height) < 1)
          assert.is(await reel(page).getAttribute('title'), 'The second firing (YouTube)')
          assert.equal([await findings(page), await sticksOut(page)], [[], []], String(width))
          await kept(page, `media-${layout}-${template}-${width}`)
        }
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )
})
