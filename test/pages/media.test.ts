/** What a site plays, moves and prints, in a real browser: by hand, by pointer, by finger, and on paper. */
import type { Browser, Page } from 'playwright-core'
import type { Content, Layout, Template } from '../../crds/site/content/content.ts'
import { LAYOUTS } from '../../crds/site/content/meta.ts'
import { renderSite } from '../../crds/site/render/site.ts'
import { HOSTILE } from '../support/builders/hostile.ts'
import { type Materials, materials, sampleInput } from '../support/builders/sites/content.ts'
import { sampleContent } from '../support/builders/sites/sample.ts'
import { startBrowser, type VisitorOptions, visit } from '../support/judges/browser.ts'
import { findings, kept, type Served, serveSite, sticksOut } from '../support/judges/sites/page.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { eventually } from '../support/stage/invoicing.ts'

/** A browser on a machine that does other things too. */
const TIMEOUT_MS = 300_000
const WIDTHS = [360, 768, 1440]
const PLAYER = 'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1'
const LOOKS: [Layout, Template][] = [
  ['classic', 'craft'],
  ['narrative', 'voltage'],
  ['sidenav', 'clinic'],
  ['editorial', 'lumen'],
]
const FAQ = Array.from({ length: 5 }, (_, n) => ({ question: `Question ${n}?`, answer: `Answer ${n}, in full.` }))
const SPECS = ['Height: 24 cm', 'Holds: 1.2 l', 'Weight: 2 kg', 'Glaze: salt', 'Firing: 1,240 °C', 'Clay: Águeda']

const siteIn = (layout: Layout, template: Template, more: Partial<Content> = {}): Content => {
  const value = sampleContent('en', layout, template)
  const address = { street: 'Rua do Almada 12', postalCode: '4050-030', locality: 'Porto' }
  return {
    ...value,
    products: (value.products ?? []).map((one, n) =>
      n === 0 ? { ...one, specs: SPECS, secondImage: 'asset:p7' } : one,
    ),
    contact: { ...value.contact, phone: '+351 220 000 000', address },
    video: {
      url: 'https://youtu.be/dQw4w9WgXcQ',
      title: 'The second firing',
      image: 'asset:p7',
      alt: 'A kiln at night',
    },
    marquee: { items: ['Thrown', 'Glazed', 'Fired', 'Mended', 'Kept'] },
    faq: FAQ,
    ...more,
  }
}

spec('what a site plays, moves and prints', (t) => {
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
        show(siteIn('classic', 'studio'))
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
        assert.equal([outside, refused, await reel(page).boundingBox()], [[], [], before])
        assert.is(new URL(page.url()).pathname, '/', 'the page stays')
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )

  t('another house than that of the video is not framed, whoever leads there', async () => {
    show(siteIn('classic', 'studio'))
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
      for (const [what, payload] of HOSTILE) {
        show(siteIn('classic', 'studio', { video: { url: 'https://youtu.be/dQw4w9WgXcQ', title: payload } }))
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
        show(siteIn(layout, template))
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

  const styleOf = (page: Page, selector: string, name: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${name}')`,
    )
  const GOODS = '#products .goods.im'

  t(
    'a picture under the pointer comes nearer by three in a hundred within its frame, and only where motion is wanted',
    async () => {
      show(siteIn('classic', 'craft', { imageHover: 'zoom' }))
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
        assert.equal(await frame.boundingBox(), before)
        await end()
      }
    },
  )

  t('it gives way to the second picture, or comes nearer where there is none', async () => {
    show(siteIn('showcase', 'market', { imageHover: 'swap' }))
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
    show(siteIn('classic', 'studio', { imageHover: 'swap' }))
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
    show(siteIn('classic', 'studio'))
    const { page, end } = await opened({ moves: true })
    await page.goto('/')
    assert.is(await page.locator('.nears, .turns, .over').count(), 0)
    await end()
  })

  const MOVING = `document.getAnimations().filter((one) => one.playState === 'running').length`

  t(
    'what runs by runs where motion is wanted, is stopped by its control, and stands still for everybody else',
    async () => {
      show(siteIn('classic', 'studio'))
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
      for (const layout of LAYOUTS) {
        show(siteIn(layout, 'studio', { imageHover: 'zoom' }))
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
        show(siteIn(layout, layout === 'sidenav' ? 'voltage' : 'harbor'))
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
          ...(layout === 'atelier' || layout === 'monolith' ? [] : []),
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
        assert.ok(pages >= 1 && pages <= 6, `${pages} pages`)
        await end()
      },
      { timeoutMs: TIMEOUT_MS },
    )

  t('an announcement names its day to everybody, past or to come: no page knows the time', async () => {
    const { page, end } = await opened({ javaScriptEnabled: false })
    for (const year of [2020, 2090]) {
      show(siteIn('classic', 'studio', { announcement: { text: 'Sale ends', countdown: `${year}-12-24T18:00:00Z` } }))
      await page.goto('/')
      assert.is(await page.locator('.announce').innerText(), `Sale ends 24 Dec ${year}`)
    }
    await end()
  })
})
