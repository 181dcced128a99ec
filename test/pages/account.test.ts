/** Signing in and managing tokens in a real browser: without JavaScript, on the keyboard's order, without barriers. */
import type { Browser, Page } from 'playwright-core'
import { signinLink } from '../support/builders/account.ts'
import { barriers, picture, startBrowser, type Visitor } from '../support/judges/browser.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { call, order, type Platform, startPlatform } from '../support/stage/invoicing.ts'
import { asVisitor, signIn, type VisitOptions } from '../support/stage/visitors.ts'

let platform: Platform
let browser: Browser

const visited = (options: VisitOptions, work: (visitor: Visitor) => Promise<void>) =>
  asVisitor({ browser, platform }, options, work)
const heading = (page: Page): Promise<string> => page.locator('h1').innerText()

spec('the pages of an account', (t) => {
  t.before(async () => {
    browser = await startBrowser()
    platform = await startPlatform()
  })
  t.after(async () => {
    await browser?.close()
    if (platform) await platform.end()
  })

  t(
    'lead from an address to a token that works, without JavaScript, and back out',
    async () => {
      await visited({}, async ({ page, context }) => {
        await page.goto('/account/tokens')
        assert.is(new URL(page.url()).pathname, '/signin')
        await page.getByLabel('E-mail address').fill('owner@demo.test')
        await page.getByRole('button', { name: 'Send me a link' }).click()
        assert.is(await heading(page), 'Look into your mailbox')

        await page.goto(await signinLink(platform, 'owner@demo.test'))
        assert.match(await page.locator('main').innerText(), /owner@demo\.test/)
        assert.equal(await context.cookies(), [])
        await page.getByRole('button', { name: 'Sign in' }).click()
        assert.is(new URL(page.url()).pathname, '/account/tokens')
        const [cookie] = await context.cookies()
        assert.is(cookie?.httpOnly, true)
        assert.is(cookie?.sameSite, 'Lax')

        await page.getByLabel('Name').fill('Bookkeeping <script>alert(1)</script>')
        await page.getByLabel('Read only').check()
        await page.getByRole('button', { name: 'Make token' }).click()
        const secret = await page.locator('#secret').innerText()
        assert.match(secret, /^btg_/)
        assert.is((await call(platform.baseUrl, secret, 'GET', '/api/invoices')).status, 200)
        assert.is((await call(platform.baseUrl, secret, 'POST', '/api/invoices', order())).status, 403)

        await page.getByRole('link', { name: 'I have copied it' }).click()
        assert.not.ok((await page.content()).includes(secret), 'the secret is shown once')
        const item = page.locator('.tokens > li', { hasText: 'Bookkeeping' })
        await item.getByText('Rotate', { exact: false }).first().click()
        await item.getByRole('button', { name: 'Make a new secret' }).click()
        const next = await page.locator('#secret').innerText()
        assert.is((await call(platform.baseUrl, secret, 'GET', '/api/invoices')).status, 401)
        assert.is((await call(platform.baseUrl, next, 'GET', '/api/invoices')).status, 200)

        await page.goto('/account/tokens')
        await item.locator('summary', { hasText: 'Revoke' }).click()
        await item.getByRole('button', { name: 'Revoke' }).click()
        assert.match(await page.getByRole('status').innerText(), /revoked/)
        assert.is(await item.count(), 0)
        assert.is((await call(platform.baseUrl, next, 'GET', '/api/invoices')).status, 401)

        await page.getByRole('button', { name: 'Sign out' }).click()
        assert.is(new URL(page.url()).pathname, '/signin')
        await page.goto('/account/tokens')
        assert.is(new URL(page.url()).pathname, '/signin')
      })
    },
    { timeoutMs: 90_000 },
  )

  t('mint what was picked one by one, and say what is missing', async () => {
    await visited({}, async (visitor) => {
      const { page } = visitor
      await signIn(platform, visitor)
      await page.goto('/account/tokens')
      await page.getByLabel('Name').fill('Picked')
      await page.getByLabel('Only what I pick below').check()
      await page.getByRole('button', { name: 'Make token' }).click()
      assert.match(await page.getByRole('alert').innerText(), /at least one/)
      assert.is(await page.getByLabel('Name').inputValue(), 'Picked')
      await picture(page, 'tokens-fault')
      await page.getByLabel('See invoices, their PDFs and their history.').check()
      await page.getByRole('button', { name: 'Make token' }).click()
      const secret = await page.locator('#secret').innerText()
      const self = await call(platform.baseUrl, secret, 'GET', '/api/auth/tokens/self')
      assert.equal(self.json.scopes, ['invoices:read'])
    })
  })

  t('say what went wrong in words', async () => {
    await visited({}, async (visitor) => {
      const { page } = visitor
      await page.goto('/signin/link/abc.def')
      assert.is(await heading(page), 'This link is over')
      await signIn(platform, visitor)
      await page.goto('/account/tokens')
      await page.goto('/account/tokens?nonsense=1')
      assert.match(await page.getByRole('alert').innerText(), /no parameter/)
      await picture(page, 'refusal')
    })
  })

  const looks = [
    { say: 'in the light', dark: false, width: 1000 },
    { say: 'in the dark', dark: true, width: 1000 },
    { say: 'on a phone', dark: false, width: 360 },
  ]
  for (const { say, dark, width } of looks) {
    t(
      `have no serious barrier ${say}`,
      async () => {
        await visited({ dark, width, javaScriptEnabled: true }, async (visitor) => {
          const { page } = visitor
          const look = async (name: string) => {
            await picture(page, `${name}-${width}${dark ? '-dark' : ''}`)
            assert.equal(await barriers(page), [], name)
            const wide = await page.evaluate(
              'document.documentElement.scrollWidth - document.documentElement.clientWidth',
            )
            assert.is(wide, 0, `${name} is wider than the screen`)
          }
          await page.goto('/signin')
          await look('signin')
          await page.getByLabel('E-mail address').fill('name@host.')
          await page.locator('form').evaluate((form) => form.setAttribute('novalidate', ''))
          await page.getByRole('button').click()
          await look('signin-fault')
          await page.getByLabel('E-mail address').fill(`nobody-${width}-${dark}@demo.test`)
          await page.getByRole('button').click()
          await look('sent')
          await page.goto('/signin/link/x')
          await look('over')
          await signIn(platform, visitor)
          await page.goto('/account/tokens')
          await page.getByLabel('Name').fill(`Shop ${say}`)
          await page.getByRole('button', { name: 'Make token' }).click()
          await look('secret')
          await page.goto('/account/tokens')
          for (const summary of await page.locator('summary').all()) await summary.click()
          await look('tokens')
        })
      },
      { timeoutMs: 120_000 },
    )
  }

  t(
    "have none on the client's page either, nor on its gate",
    async () => {
      const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order())
      assert.is(made.status, 201, made.text)
      const locked = order({ client_email: 'other@demo.test' })
      const own = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', locked)
      for (const dark of [false, true]) {
        await visited({ dark, javaScriptEnabled: true }, async ({ page }) => {
          const look = async (name: string) => {
            await picture(page, `${name}${dark ? '-dark' : ''}`)
            assert.equal(await barriers(page), [], name)
          }
          await page.goto(new URL(made.json.url).pathname)
          await look('gate')
          await page.locator('input[type=password]').fill('wrong')
          await page.getByRole('button').click()
          await look('gate-wrong')
          await page.locator('input[type=password]').fill(made.json.password)
          await page.getByRole('button').click()
          assert.match(await page.locator('main').innerText(), /October retainer/)
          await look('invoice')
          await page.goto(new URL(own.json.url).pathname)
          await look('gate-locked')
        })
      }
    },
    { timeoutMs: 120_000 },
  )

  t('open an invoice to the account that it was sent to, by the session', async () => {
    const made = await call(
      platform.baseUrl,
      platform.owner,
      'POST',
      '/api/invoices',
      order({ client_email: 'owner@demo.test' }),
    )
    const path = new URL(made.json.url).pathname
    await visited({}, async (visitor) => {
      const { page } = visitor
      assert.is((await page.goto(path))?.status(), 401)
      await signIn(platform, visitor)
      assert.is((await page.goto(path))?.status(), 200)
      assert.match(await page.locator('main').innerText(), /October retainer/)
    })
  })

  t('run no script, not even one that got into a page', async () => {
    await visited({ javaScriptEnabled: true }, async (visitor) => {
      const { page } = visitor
      await signIn(platform, visitor)
      for (const path of ['/signin', '/account/tokens', '/signin/link/x']) {
        const response = await page.goto(path)
        const headers = response?.headers() ?? {}
        assert.match(
          headers['content-security-policy'] ?? '',
          /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/,
        )
        assert.is(headers['cache-control'], 'private, no-store')
        assert.is(headers['x-content-type-options'], 'nosniff')
        assert.is(headers['x-frame-options'], 'DENY')
        assert.not.match(await page.content(), /<script|javascript:|\son\w+=/i)
      }
    })
  })
})
