/** The page of dev instances in a real browser: without a script, without barriers, at three widths, and nobody else's. */
import type { Browser } from 'playwright-core'
import { publicKey } from '../support/builders/devinstance.ts'
import { barriers, picture, startBrowser, type Visitor } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { addAccount } from '../support/stage/callers.ts'
import { makeProvisioner, setCap } from '../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../support/stage/invoicing.ts'
import { asOwner, type VisitOptions } from '../support/stage/visitors.ts'

let platform: Platform
let browser: Browser
const WIDTHS = [360, 768, 1280] as const

const visited = (options: VisitOptions, work: (visitor: Visitor) => Promise<void>) =>
  asOwner({ browser, platform }, options, work)

spec('the page of dev instances', (t) => {
  let running: Json
  let stopped: Json
  t.before(
    async () => {
      browser = await startBrowser()
      platform = await startPlatform()
      await platform.kubectl([
        'patch',
        'acct',
        'demo',
        '--type=merge',
        '-p',
        '{"spec":{"capabilities":["devbox.manage"]}}',
      ])
      await setCap(platform, { account: 'demo', token: platform.owner }, 500)
      const box = makeProvisioner(platform, platform.owner)
      await eventually(
        'the capability',
        async () => (await box.reserve({ name: 'only-reserved' }).catch(() => null)) !== null,
      )
      running = await box.toRunning({ name: 'october', sizeClass: 'S' })
      const ready = await box.toReady({ name: 'A-very-long-name-of-a-dev-instance-that-somebody-has-chosen-1' })
      stopped = (await box.on(ready.id, 'POST', 'stopped', { version: ready.version })).json.devbox
      const token = (await box.on(running.id, 'POST', 'token')).json.token
      const key = { name: 'laptop <b>', public_key: publicKey() }
      await call(platform.baseUrl, platform.owner, 'POST', '/api/account/ssh-keys', key)
      await call(platform.baseUrl, token, 'POST', `/api/devboxes/${running.id}/report`, {
        at: new Date().toISOString(),
        activity: [
          { source: 'agent', name: '<i>codex</i>', weight: 1 },
          { source: 'ssh', weight: 0 },
        ],
      })
      const stranger = await addAccount(platform, 'stranger', { capabilities: ['devbox.manage'] })
      await makeProvisioner(platform, stranger).reserve({ name: 'not-yours' })
    },
    { timeoutMs: 480_000 },
  )
  t.after(async () => {
    await browser?.close()
    if (platform) await platform.end()
  })

  t('says how each stands and why, what it costs, who may get in and how', async () => {
    await visited({}, async ({ page }) => {
      await page.goto('/account/devboxes')
      const item = page.locator('.tokens > li', { hasText: 'october' }).first()
      assert.match(await item.innerText(), /running: kept awake by <i>codex<\/i>; it stops itself after 30 minutes/)
      assert.match(await item.innerText(), /56\.71 USD[\s\S]*7\.65 USD/)
      await item.getByText('Get in').click()
      assert.match(
        await item.innerText(),
        /bottega devbox config october > ~\/\.ssh\/bottega-october[\s\S]*ssh bottega-october/,
      )
      assert.equal(
        await item.locator('a.button').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
        [
          'vscode://vscode-remote/ssh-remote+bottega-october/home/dev/repo',
          'jetbrains-gateway://connect#type=ssh&deploy=false&host=bottega-october&port=22&user=dev&projectPath=%2Fhome%2Fdev%2Frepo',
        ],
      )
      await item.getByText('Who may').click()
      assert.match(await item.innerText(), /laptop <b> of demo, SHA256:/)
      const away = page.locator('.tokens > li', { hasText: stopped.name }).first()
      assert.match(await away.innerText(), /stopped: it was turned off\./)
      await away.getByText('Get in').click()
      assert.match(await away.innerText(), `It is off. Start it first:`)
      assert.match(await away.innerText(), `bottega devbox start ${stopped.name}`)
      assert.not.match(await item.innerText(), 'bottega devbox start')
      const whole = await page.locator('main').innerText()
      assert.match(whole, /3 dev instances, committed to 117\.86 USD of the 500\.00 USD/)
      assert.not.match(whole, 'not-yours')
      const about = await page.locator('svg.bars desc').first().textContent()
      assert.match(about ?? '', /october \d+\.\d\d USD until now, \d+\.\d\d USD by its end/)
      assert.match(await page.locator('nav.places').innerText(), 'Dev instances')
    })
  })

  for (const width of WIDTHS) {
    t(`has no barrier at ${width} px, and nothing that sticks out`, async () => {
      await visited({ width, javaScriptEnabled: true }, async ({ page }) => {
        await page.goto('/account/devboxes')
        for (const summary of await page.locator('summary').all()) await summary.click()
        await picture(page, `devboxes-${width}`)
        assert.equal(await barriers(page), [])
        const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        assert.is(wide, 0, 'wider than the screen')
      })
    })
  }

  t('is for whoever is signed in, and their own', async () => {
    const { status, headers } = await call(platform.baseUrl, null, 'GET', '/account/devboxes')
    assert.equal([status, headers.get('location')], [303, '/signin?next=%2Faccount%2Fdevboxes'])
  })
})
