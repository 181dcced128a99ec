/** Mails as a browser shows their HTML part: they fit on a phone whatever they hold, and keep nobody out. */
import type { Browser } from 'playwright-core'
import { mailsAbout } from '../crds/text/mails.ts'
import { barriers, picture, startBrowser, visit } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'

const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
const url = `https://pay.test/i/inv-1.${'abcdefghij'.repeat(12)}`

spec('a mail in a browser', (t) => {
  let browser: Browser
  t.before(async () => {
    browser = await startBrowser()
  })
  t.after(async () => browser?.close())

  for (const width of [360, 640]) {
    for (const [name, { html }] of Object.entries(mailsAbout(LONG, url))) {
      t(
        `fits and keeps nobody out: ${name}, ${width}`,
        async () => {
          const visitor = await visit(browser, { baseURL: 'http://127.0.0.1', width, javaScriptEnabled: true })
          await visitor.page.setContent(html)
          const over = await visitor.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          assert.ok(over <= 0, `sticks out by ${over} px`)
          assert.equal(await barriers(visitor.page), [])
          await picture(visitor.page, `mail-${name}-${width}`)
          assert.equal(visitor.outside, [])
          await visitor.end()
        },
        { timeoutMs: 120_000 },
      )
    }
  }
})
