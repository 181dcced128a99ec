/** The pages on which a layout is chosen, in a real browser: everything is seen, nothing is refused, nobody is kept out. */
import type { Browser } from 'playwright-core'
import { LAYOUTS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import { barriers, startBrowser, visit } from '../../support/judges/browser.ts'
import { kept, sticksOut } from '../../support/judges/sites/page.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

spec('choosing a layout in a browser', (t) => {
  let platform: Platform
  let browser: Browser
  t.before(async () => {
    ;[platform, browser] = await Promise.all([
      startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000' } }),
      startBrowser(),
    ])
  })
  t.after(async () => {
    await browser?.close()
    await platform?.end()
  })

  t('the catalogue shows every pair, at every width', async () => {
    const visitor = await visit(browser, { baseURL: platform.baseUrl, javaScriptEnabled: true })
    for (const width of [360, 768, 1440]) {
      await visitor.page.setViewportSize({ width, height: 900 })
      await visitor.page.goto('/templates')
      assert.equal(await sticksOut(visitor.page), [], String(width))
      assert.equal(await barriers(visitor.page), [], String(width))
    }
    await kept(visitor.page, 'templates')
    const sizes = await visitor.page.evaluate<number[]>(`(async () => {
      const drawings = [...document.images]
      for (const one of drawings) one.loading = 'eager'
      await Promise.all(drawings.map((one) => one.decode()))
      return drawings.map((one) => one.naturalWidth)
    })()`)
    assert.ok(sizes.length > LAYOUTS.length * TEMPLATES.length && sizes.every((size) => size === 240), sizes.join())
    assert.equal(visitor.outside, [])
    await visitor.end()
  })

  t(
    'one’s own content stands in every layout, in the template’s own face, and no policy refuses any of it',
    async () => {
      const reply = await call(platform.baseUrl, platform.owner, 'POST', '/api/website/generate', {
        content: siteContent(),
      })
      const { url } = (
        await call(platform.baseUrl, platform.owner, 'GET', `/api/website/${reply.json.site.id}/variants`)
      ).json
      const visitor = await visit(browser, { baseURL: platform.baseUrl, javaScriptEnabled: true })
      const refused: string[] = []
      visitor.page.on('console', (message) => {
        if (message.type() === 'error') refused.push(message.text())
      })
      for (const width of [360, 1440]) {
        await visitor.page.setViewportSize({ width, height: 900 })
        await visitor.page.goto(`${url}?template=lumen`)
        assert.equal(await sticksOut(visitor.page), [], String(width))
      }
      await visitor.page.evaluate("for (const one of document.querySelectorAll('iframe')) one.loading = 'eager'")
      for (const layout of LAYOUTS) {
        const frame = visitor.page.frameLocator(`iframe[src*="/${layout}/lumen/"]`)
        await frame.getByRole('heading', { name: 'Stoneware for every day' }).first().waitFor()
      }
      await kept(visitor.page, 'variants')
      assert.equal(refused, [])
      assert.equal(visitor.outside, [])
      const { width = 0 } = (await visitor.page.locator('iframe').first().boundingBox()) ?? {}
      assert.is(width, 360, 'a window of 1440, at a quarter')
      await visitor.end()
    },
  )
})
