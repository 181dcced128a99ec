/** The page of webhooks in a real browser: without JavaScript and without barriers, hostile answers shown as text. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { barriers, picture, startBrowser, type Visitor, visit } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { call, type Json, type Platform, startPlatform } from '../support/stage/invoicing.ts'
import { asOwner, type VisitOptions } from '../support/stage/visitors.ts'

let platform: Platform
let browser: Browser
let receiver: Server
let status = 200
const HOSTILE = '<script>document.title="taken"</script><img src=x onerror=alert(1)>'

const visited = (options: VisitOptions, work: (visitor: Visitor) => Promise<void>) =>
  asOwner({ browser, platform }, options, work)

spec('the page of webhooks', (t) => {
  let endpoint: Json
  t.before(async () => {
    receiver = createServer((request, response) => {
      request.resume()
      response.writeHead(status).end(HOSTILE)
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    browser = await startBrowser()
    platform = await startPlatform({ env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' } })
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
    endpoint = (await call(platform.baseUrl, platform.owner, 'POST', '/api/webhooks', { url })).json.endpoint
  })
  t.after(async () => {
    await browser?.close()
    if (platform) await platform.end()
    receiver.closeAllConnections()
    await new Promise((resolve) => receiver.close(resolve))
  })

  t('shows how each endpoint stands, sends pings and sends again', async () => {
    await visited({}, async ({ page }) => {
      await page.goto('/account/webhooks')
      assert.equal(await page.locator('h2').allInnerTexts(), [endpoint.url])
      await page.getByRole('button', { name: 'Send a ping' }).click()
      assert.match(await page.getByRole('status').innerText(), /The ping was sent/)
      const first = page.locator('tbody tr').first()
      assert.match(await first.innerText(), /ping[\s\S]*Delivered, 200/)
      status = 500
      await page.getByRole('button', { name: 'Send a ping' }).click()
      assert.match(await first.innerText(), /Failed, 500[\s\S]*HTTP_500/)
      assert.match(await page.locator('section').innerText(), /No delivery has succeeded since/)
      await first.locator('summary').click()
      assert.is(await first.locator('pre').innerText(), HOSTILE)
      await page.getByRole('link', { name: 'Only what did not succeed' }).click()
      assert.is(await page.locator('tbody tr').count(), 1)
      status = 200
      await page.getByRole('button', { name: 'Send again' }).click()
      assert.match(await page.getByRole('status').innerText(), /sent again/)
    })
  })

  t('switches an endpoint on that was gone', async () => {
    status = 410
    await visited({}, async ({ page }) => {
      await page.goto('/account/webhooks')
      await page.getByRole('button', { name: 'Send a ping' }).click()
      assert.match(await page.locator('section').innerText(), /Switched off: it answered 410 Gone/)
      await page.getByRole('button', { name: 'Switch on' }).click()
      assert.is(await page.getByRole('button', { name: 'Switch on' }).count(), 0)
    })
    status = 200
  })

  t('is for whoever is signed in', async () => {
    const visitor = await visit(browser, { baseURL: platform.baseUrl })
    await visitor.page.goto('/account/webhooks')
    assert.is(new URL(visitor.page.url()).pathname, '/signin')
    await visitor.end()
  })

  for (const { say, dark, width } of [
    { say: 'in the light', dark: false, width: 1000 },
    { say: 'in the dark', dark: true, width: 1000 },
    { say: 'on a phone', dark: false, width: 360 },
  ]) {
    t(`has no barrier ${say}`, async () => {
      await visited({ dark, width, javaScriptEnabled: true }, async ({ page }) => {
        await page.goto('/account/webhooks')
        await picture(page, `webhooks-${width}${dark ? '-dark' : ''}`)
        assert.equal(await barriers(page), [])
        assert.not.equal(await page.title(), 'taken')
        const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        assert.is(wide, 0, 'wider than the screen')
      })
    })
  }
})
