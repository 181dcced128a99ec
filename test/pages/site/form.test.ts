/** The contact form in a browser: on the site in every layout, and on the platform's pages, from the first letter to the thanks. */
import type { Browser, Page } from 'playwright-core'
import type { Content, SiteLang } from '../../../crds/site/content/content.ts'
import { LANGS, LAYOUTS } from '../../../crds/site/content/meta.ts'
import { FORM_WORDS } from '../../../crds/site/publishing/messages/words.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { type Materials, materials, sampleInput } from '../../support/builders/sites/content.ts'
import { AUDIO, GRILL, TEA } from '../../support/businesses/goods.ts'
import { LAW } from '../../support/businesses/services.ts'
import { startBrowser, type Visitor, visit } from '../../support/judges/browser.ts'
import { findings, kept, type Served, serveSite, sticksOut } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { type FormSite, formSite, liveForm } from '../../support/stage/publishing.ts'

const LONG = { timeoutMs: 300_000 }
const WIDTHS = [360, 768, 1440]
const HIGH_MIN = 48
const BUSINESS: Record<SiteLang, Content> = { en: LAW, es: GRILL, 'zh-Hans': AUDIO, 'zh-Hant': TEA }

spec('a contact form in a browser', (t) => {
  let browser: Browser
  let stuff: Materials
  let served: Served
  let platform: Platform
  let site: FormSite
  let visitor: Visitor

  /** The pages of a business, with a form that leads to the site's. */
  const show = (layout: (typeof LAYOUTS)[number], lang: SiteLang, policy: 'right' | 'none' = 'right') => {
    const business = BUSINESS[lang]
    const content: Content = {
      ...business,
      meta: { ...business.meta, layout },
      contact: { ...business.contact, form: true },
    }
    const { files } = renderSite({ ...sampleInput(content, stuff), form: site.action })
    served.show(files, policy === 'right' ? { forms: site.action } : {})
    const path = files.find(
      ({ content: text }) => typeof text === 'string' && text.includes('<form class="write"'),
    )?.path
    return `/${(path ?? '').replace(/index\.html$/, '')}`
  }
  /** Nothing sticks out and axe has nothing to say, at every width. */
  const judged = async (page: Page, name: string): Promise<void> => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      assert.equal(await sticksOut(page), [], `${name} at ${width}`)
      assert.equal(await findings(page), [], `${name} at ${width}`)
      await kept(page, `form-${name}-${width}`)
    }
  }
  const fill = async (page: Page, of: Partial<Record<'name' | 'email' | 'message', string>> = {}): Promise<void> => {
    await page.fill('#write-name', of.name ?? 'Ana Ruiz')
    await page.fill('#write-email', of.email ?? 'ana@visitor.test')
    await page.fill('#write-message', of.message ?? 'Is the jug still there?')
  }
  const messages = async () =>
    (await call(platform.baseUrl, platform.owner, 'GET', `/api/website/${site.id}/messages`)).json.messages
  const press = async (page: Page): Promise<void> => {
    await Promise.all([page.waitForNavigation(), page.click('form button[type=submit]')])
  }

  t.before(async () => {
    ;[browser, stuff, platform] = await Promise.all([startBrowser(), materials(), startPlatform()])
    const { p1, p2, p3 } = stuff.images
    for (const key of ['w1', 'w2', 'w3', 't1', 't2', 't3']) {
      const image = { 1: p1, 2: p2, 3: p3 }[key[1] ?? '']
      if (image) stuff.images[key] = image
    }
    served = await serveSite(stuff)
    const translations = LANGS.filter((lang) => lang !== 'en').map((lang) => ({ lang }))
    site = await liveForm(platform, { url: `${served.baseURL}/`, content: { translations } })
    visitor = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
  })
  t.after(async () => {
    await visitor?.end()
    await browser?.close()
    await served?.end()
    await platform?.end()
  })

  for (const [index, layout] of LAYOUTS.entries()) {
    const lang = LANGS[index % LANGS.length] ?? 'en'
    t(
      `keeps nobody out in ${layout} and ${lang}; fields are high enough to hit, and the trap is nowhere`,
      async () => {
        const { page } = visitor
        await page.goto(show(layout, lang))
        await judged(page, `site-${layout}`)
        const high = await page.evaluate<number[]>(
          `[...document.querySelectorAll('.write :is(input:not([type=hidden],#write-website),textarea,button)')].map((one) => one.getBoundingClientRect().height)`,
        )
        assert.is(high.length, 5)
        assert.ok(Math.min(...high) >= HIGH_MIN, high.join())
        assert.is(await page.isVisible('#write-website'), false)
        const heard = await page.locator('form.write').ariaSnapshot()
        assert.not.ok(heard.includes(FORM_WORDS[lang].trap), heard)
      },
      LONG,
    )
  }

  t(
    'brings a message from the page of a site to its owner, and the visitor to the thanks and back',
    async () => {
      const { page } = visitor
      await page.goto(show('classic', 'en'))
      await fill(page)
      await press(page)
      assert.match(page.url(), /\/s\/[^/]+\/sent\?page=index\.html$/)
      assert.is(await page.textContent('h1'), FORM_WORDS.en.sent)
      await judged(page, 'thanks')
      const [message] = await messages()
      assert.equal([message.name, message.message], ['Ana Ruiz', 'Is the jug still there?'])
      await page.reload()
      assert.is((await messages()).length, 1)
      await page.click('a.button')
      await page.waitForURL(`${served.baseURL}/#contact`)
    },
    LONG,
  )

  t(
    'leads nowhere from a page whose policy does not name it',
    async () => {
      const { page } = visitor
      const before = (await messages()).length
      const refused = page.waitForEvent('console', (line) => /form-action/.test(line.text()))
      const at = show('classic', 'en', 'none')
      await page.goto(at)
      await fill(page, { message: 'From nowhere' })
      await page.click('form button[type=submit]', { noWaitAfter: true })
      await refused
      assert.is(new URL(page.url()).origin, served.baseURL)
      assert.is((await messages()).length, before)
    },
    LONG,
  )

  t(
    'says beside the field what is wrong, keeps what was typed, and takes it once it is right',
    async () => {
      const { page } = visitor
      await page.goto(show('editorial', 'en'))
      await page.evaluate(`document.querySelector('form.write').noValidate = true`)
      await fill(page, { email: 'nobody', message: 'Kept as typed' })
      await press(page)
      assert.is(await page.textContent('#write-email-fault'), FORM_WORDS.en.faults.email)
      assert.is(await page.inputValue('#write-message'), 'Kept as typed')
      await judged(page, 'faults')
      await page.fill('#write-email', 'ana@visitor.test')
      await page.waitForTimeout(2_100)
      await press(page)
      assert.is(await page.textContent('h1'), FORM_WORDS.en.sent)
      assert.ok((await messages()).some((one: { message: string }) => one.message === 'Kept as typed'))
    },
    LONG,
  )

  t(
    'from a preview is shown once more while the site is live, and sends nothing while it is not',
    async () => {
      const { page } = visitor
      const before = (await messages()).length
      await page.goto(site.preview)
      await fill(page)
      await press(page)
      assert.is(await page.textContent('.note'), FORM_WORDS.en.once)
      await judged(page, 'once')
      const draft = await formSite(platform)
      await page.goto(draft.preview)
      await fill(page)
      await press(page)
      assert.is(await page.textContent('h1'), FORM_WORDS.en.closed)
      await judged(page, 'closed')
      assert.is((await messages()).length, before)
    },
    LONG,
  )
})
