import { allRoutes } from '../../api/wiring/routes.ts'
import { type Cards, startCards } from '../support/doubles/cards.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../support/stage/invoicing.ts'

spec('the clock of a development installation', (t) => {
  let platform: Platform
  let cards: Cards
  let admin: string
  t.before(async () => {
    cards = await startCards(() => platform.baseUrl)
    platform = await startPlatform({ env: { ...cards.env, BOTTEGA_DEV_CLOCK: 'on' } })
    await platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'boss' },
      spec: { email: 'boss@demo.test', role: 'admin' },
    })
    admin = await platform.token('boss')
    await eventually('the admin', async () => (await ask(admin, 'GET')).status === 200)
  })
  t.after(async () => {
    await platform.end()
    await cards.end()
  })

  const ask = (token: string | null, method: string, body?: unknown) =>
    call(platform.baseUrl, token, method, '/api/dev/clock', body)
  const hoursAhead = (now: string) => (Date.parse(now) - Date.now()) / 3_600_000

  t('is no route of any other installation', () => {
    assert.equal(
      allRoutes.filter(({ path }) => path.startsWith('/api/dev/')),
      [],
    )
  })

  t('is the wall clock at first', async () => {
    const { json } = await ask(admin, 'GET')
    assert.ok(Math.abs(hoursAhead(json.now)) < 0.01, json.now)
  })

  t('is for administrators', async () => {
    assert.is((await ask(null, 'GET')).status, 401)
    assert.is((await ask(platform.owner, 'POST', { advance: 'P1D' })).json.code, 'ROLE_REQUIRED')
  })

  t('moves by a positive ISO 8601 duration and by nothing else', async () => {
    for (const advance of ['P0D', '-P1D', '3 days', '', 'P99Y']) {
      const { status, json } = await ask(admin, 'POST', { advance })
      assert.equal([status, json.errors[0].pointer], [400, '/advance'], advance)
    }
    assert.is((await ask(admin, 'POST', {})).status, 400)
  })

  t('has moved for every process and looked at what fell due, when it answers', async () => {
    const due = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
    const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order({ due_date: due }))
    const id = made.json.invoice.id
    const status = async () =>
      (await call(platform.baseUrl, platform.owner, 'GET', `/api/invoices/${id}`)).json.invoice.status
    assert.is(await status(), 'sent')

    const moved = await ask(admin, 'POST', { advance: 'P3DT12H' })
    assert.is(moved.status, 200)
    assert.ok(Math.abs(hoursAhead(moved.json.now) - 84) < 0.1, moved.json.now)
    assert.is(await status(), 'overdue')

    const again = await ask(admin, 'POST', { advance: 'PT1H' })
    assert.ok(Math.abs(hoursAhead(again.json.now) - 85) < 0.1, again.json.now)
  })

  t(
    'leaves Pay now as it is: a checkout is opened, used again, and paid, however far the clock was moved',
    async () => {
      const api = (path: string, body?: unknown) =>
        call(platform.baseUrl, platform.owner, body ? 'POST' : 'GET', `/api/invoices${path}`, body)
      assert.is((await api('/settings/rails', { rail: 'stripe', enabled: true })).status, 200)
      const made = await api('', order({ due_date: '2099-12-20' }))
      const { id, url } = made.json.invoice
      const path = new URL(url).pathname
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const pay = async () => {
        // what opened the page before the clock was moved has lapsed
        const entered = await call(platform.baseUrl, null, 'POST', path, `password=${made.json.password}`, form)
        const cookie = entered.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
        const headers = { cookie, accept: 'application/json' }
        return call(platform.baseUrl, null, 'POST', `${path}/pay`, undefined, headers)
      }
      const first = await pay()
      assert.equal([first.status, first.json?.code], [200, undefined], first.text)
      assert.is((await pay()).json.checkout_url, first.json.checkout_url)
      assert.is(cards.sessions.size, 1)
      assert.is((await ask(admin, 'POST', { advance: 'P3D' })).status, 200)
      const later = await pay()
      assert.is(later.status, 200, later.text)
      assert.is(await cards.pay(String(later.json.checkout_url.split('/').at(-1))), 303)
      assert.is((await api(`/${id}`)).json.invoice.status, 'paid')
    },
  )

  t('keeps what it was moved by over a restart', async () => {
    await platform.stop()
    await platform.start()
    const { json } = await eventually('the api', async () => {
      const reply = await ask(admin, 'GET').catch(() => null)
      return reply?.status === 200 ? reply : null
    })
    assert.ok(Math.abs(hoursAhead(json.now) - 157) < 0.1, json.now)
  })
})
