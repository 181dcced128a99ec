/** The sign-in page of a private app in a browser: every language and every thing that it says, at three widths, light and dark. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { ACCESS_POLICY, type AccessFacts, accessPage } from '../../api/app/publishing/gate/page.ts'
import { GATE_WORDS } from '../../api/app/publishing/gate/words.ts'
import type { PageLang } from '../../api/page/lang.ts'
import { barriers, picture, startBrowser, visit } from '../support/judges/browser.ts'
import { sticksOut } from '../support/judges/sites/page.ts'
import { assert, spec } from '../support/runner/spec.ts'

const WIDTHS = [360, 768, 1440]
/** As long as a slug may be, without a place to break it. */
const SLUG = 'a'.repeat(40)
const SAYS: Record<string, AccessFacts['fault']> = {
  first: undefined,
  wrong: 'wrong',
  waits: { waitSeconds: 600 },
  lost: 'lost',
}

spec('the sign-in page of a private app', (t) => {
  let browser: Browser
  let server: Server
  let baseURL: string

  t.before(
    async () => {
      browser = await startBrowser()
      server = createServer(({ url = '/' }, response) => {
        const [, lang, says = ''] = url.split('/')
        const facts = { lang: lang as PageLang, slug: SLUG, next: '/', fault: SAYS[says] }
        response.setHeader('content-type', 'text/html; charset=utf-8')
        response.setHeader('content-security-policy', ACCESS_POLICY)
        response.end(accessPage(facts as AccessFacts))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    { timeoutMs: 240_000 },
  )
  t.after(async () => {
    await browser?.close()
    server?.close()
  })

  const judged = async (page: Page, name: string): Promise<void> => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      assert.equal(await sticksOut(page), [], `${name} at ${width}`)
      assert.equal(await barriers(page), [], `${name} at ${width}`)
      await picture(page, `${name}-${width}`)
    }
  }

  for (const lang of Object.keys(GATE_WORDS) as PageLang[]) {
    t(
      `fits, and keeps nobody out: ${lang}`,
      async () => {
        for (const dark of [false, true]) {
          const { page, outside, end } = await visit(browser, { baseURL, dark, javaScriptEnabled: true })
          for (const says of Object.keys(SAYS)) {
            await page.goto(`/${lang}/${says}`)
            assert.is(await page.getAttribute('html', 'lang'), lang)
            assert.match((await page.textContent('main')) ?? '', GATE_WORDS[lang].lead)
            await judged(page, `access-${lang}-${says}${dark ? '-dark' : ''}`)
          }
          assert.equal(outside, [], 'nothing is asked of others')
          await end()
        }
      },
      { timeoutMs: 240_000 },
    )
  }

  t('is told by its label what is typed, and by its words what was wrong', async () => {
    const { page, end } = await visit(browser, { baseURL })
    await page.goto('/en/wrong')
    const field = page.getByLabel(GATE_WORDS.en.password)
    assert.is(await field.getAttribute('type'), 'password')
    assert.is(await field.getAttribute('aria-invalid'), 'true')
    const described = (await field.getAttribute('aria-describedby')) ?? ''
    const words = await Promise.all(described.split(' ').map((id) => page.textContent(`#${id}`)))
    assert.match(words.join(' '), GATE_WORDS.en.wrong)
    await end()
  })
})
