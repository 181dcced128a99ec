/** The page of a month's books in a real browser: without JavaScript, without barriers, with the same figures as REST. */
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { barriers, picture, startBrowser, type Visitor, visit } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { call, order, type Platform, startPlatform } from '../support/stage/invoicing.ts'
import { asOwner, type VisitOptions } from '../support/stage/visitors.ts'

let platform: Platform
let browser: Browser
const month = new Date().toISOString().slice(0, 7)

const visited = (options: VisitOptions, work: (visitor: Visitor) => Promise<void>) =>
  asOwner({ browser, platform }, options, work)

spec('the page of a month', (t) => {
  t.before(async () => {
    browser = await startBrowser()
    platform = await startPlatform()
    const make = (body: Record<string, unknown>) =>
      call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order(body))
    await make({})
    await make({
      currency: 'JPY',
      items: [{ description: 'x', qty: 1, unit_cents: 5_000_000 }],
      paid: { method: 'cash' },
    })
  })
  t.after(async () => {
    await browser?.close()
    if (platform) await platform.end()
  })

  t('shows each currency with its chart and figures, the months around it, and the same table as a file', async () => {
    await visited({}, async ({ page }) => {
      await page.goto('/account/reconciliation')
      assert.equal(await page.locator('h2').allInnerTexts(), ['demo Studio in EUR', 'demo Studio in JPY'])
      assert.is(await page.getByRole('img', { name: 'demo Studio, JPY' }).count(), 1)
      const eur = page.locator('section').first()
      assert.match(await eur.locator('tr', { hasText: 'Outstanding now' }).innerText(), /1,440\.00 EUR/)
      const yen = page.locator('section').last()
      assert.match(await yen.locator('tr', { hasText: 'Paid, as attested' }).innerText(), /60,000 JPY/)
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'This table as CSV' }).click(),
      ])
      const rest = await call(
        platform.baseUrl,
        platform.owner,
        'GET',
        `/api/invoices/reconciliation?month=${month}&format=csv`,
      )
      assert.is(readFileSync(await file.path(), 'utf8'), rest.text)
      await page.getByLabel('Month', { exact: true }).fill('2020-02')
      await page.getByRole('button', { name: 'Show' }).click()
      assert.is(await page.locator('h1').innerText(), 'Books of February 2020')
      await page.getByRole('link', { name: /Month before/ }).click()
      assert.is(await page.locator('h1').innerText(), 'Books of January 2020')
    })
  })

  t('is for whoever is signed in', async () => {
    const visitor = await visit(browser, { baseURL: platform.baseUrl })
    await visitor.page.goto('/account/reconciliation')
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
        await page.goto('/account/reconciliation')
        await picture(page, `books-${width}${dark ? '-dark' : ''}`)
        assert.equal(await barriers(page), [])
        const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        assert.is(wide, 0, 'wider than the screen')
      })
    })
  }
})
