import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWebSocket, streaming } from '../../../support/doubles/streams.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** A private app over its policy, its links and its page, through the real proxy. */

const timeoutMs = 120_000
const PASSWORD = 'correct horse battery'
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
/** A revocation acts within this, on what a link has opened too; the plain run shares its machine. */
const REVOKED_MS = isFull ? 2_000 : 10_000

spec('a private app and its links', (t) => {
  let stage: AppStage
  let app: Json
  const links = () => `/api/apps/${app.id}/access-links`
  const policy = () => `/api/apps/${app.id}/publication-policy`
  const make = async (body: object = {}): Promise<Json> => {
    const reply = await stage.api('POST', links(), body)
    assert.is(reply.status, 201, reply.text)
    return reply.json.access_link
  }
  const listed = async (id: string): Promise<Json> =>
    (await stage.api('GET', links())).json.access_links.find((one: Json) => one.id === id)
  const revoke = (id: string): Promise<Reply> => stage.api('DELETE', `${links()}/${id}`)
  /** As a browser does: the link, then where it leads, with what it was given. */
  const follow = async (path: string): Promise<{ status: number; cookie: string; to: string }> => {
    const { status, headers } = await stage.visit('shut', path, { headers: { accept: 'text/html' } })
    return { status, cookie: String(headers['set-cookie']).split(';')[0] ?? '', to: String(headers.location) }
  }
  const statusOf = async (path: string, cookie: string): Promise<number> =>
    (await stage.visit('shut', path, { headers: { cookie } })).status
  const signIn = (password: string, headers: Record<string, string> = {}) =>
    stage.visit('shut', '/_bottega/access', {
      method: 'POST',
      body: new URLSearchParams({ password, next: '/' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('shut')
    const { json, text } = await stage.deploy(app.id, streaming('secret'))
    assert.is(json.operation.state, 'succeeded', text)
  })
  t.after(() => stage?.end())

  t(
    'becomes private by a plan that is applied, and not without a password',
    async () => {
      const none = await stage.api('PATCH', policy(), { access: 'private' })
      assert.equal([none.status, none.json.code], [400, 'PASSWORD_REQUIRED'])
      const planned = await stage.api('PATCH', policy(), { access: 'private', password: PASSWORD })
      assert.is(planned.status, 200, planned.text)
      assert.equal(planned.json.changes.access, { from: 'public', to: 'private' })
      assert.is((await stage.visit('shut')).status, 200)
      const { plan_id, etag } = planned.json
      const apply = (headers: Record<string, string>, body: object = {}) =>
        stage.api('PATCH', policy(), { access: 'private', password: PASSWORD, apply: true, plan_id, ...body }, headers)
      const codes = [
        await apply({}),
        await apply({ 'if-match': '"other"' }),
        await apply({ 'if-match': etag }),
        await apply({ 'if-match': etag, 'idempotency-key': randomUUID() }, { plan_id: 'plan-none' }),
        await apply({ 'if-match': etag, 'idempotency-key': randomUUID() }, { access: 'public' }),
      ].map(({ status, json }) => [status, json.code])
      assert.equal(codes, [
        [428, 'PRECONDITION_REQUIRED'],
        [412, 'PRECONDITION_FAILED'],
        [400, 'IDEMPOTENCY_KEY_REQUIRED'],
        [404, 'UNKNOWN_PLAN'],
        [409, 'PLAN_STALE'],
      ])
      const done = await apply({ 'if-match': etag, 'idempotency-key': randomUUID() })
      assert.equal(
        [done.status, done.json.operation?.state, done.json.app?.access],
        [200, 'succeeded', 'private'],
        done.text,
      )
      assert.is((await stage.visit('shut')).status, 401)
      const { json, headers } = await stage.api('GET', policy())
      assert.equal([json.publication_policy.password_set, json.publication_policy.etag], [true, headers.get('etag')])
      const stale = await stage.api('PATCH', `/api/apps/${app.id}`, { access: 'public' }, { 'if-match': etag })
      assert.equal([stale.status, stale.json.code], [412, 'PRECONDITION_FAILED'])
    },
    { timeoutMs },
  )

  t('tells no visitor to send a token, and speaks his language', async () => {
    const bare = await stage.visit('shut', '/')
    assert.equal([bare.status, bare.headers['www-authenticate'], /bearer/i.test(bare.text)], [401, undefined, false])
    for (const [asks, lang, words] of [
      ['de-DE,es;q=0.8', 'es', 'Contraseña'],
      ['zh-TW', 'zh-Hant', '密碼'],
      ['zh-CN,en;q=0.5', 'zh-Hans', '密码'],
      ['fr', 'en', 'Password'],
    ] as const) {
      const page = await stage.visit('shut', '/_bottega/access', { headers: { 'accept-language': asks } })
      assert.ok(page.text.includes(`<html lang="${lang}">`) && page.text.includes(words), `${asks}: ${page.text}`)
    }
  })

  t('opens by a link, which counts a session and not a look at it', async () => {
    const link = await make()
    assert.is(link.url, `https://shut.${stage.host.baseDomain}:${stage.host.httpsPort}${link.path}`)
    const scanned = await follow(link.path)
    assert.equal([scanned.status, scanned.to, (await listed(link.id)).uses], [303, '/', 0])
    const { cookie } = await follow(link.path)
    assert.equal([await statusOf('/', cookie), await statusOf('/other', cookie)], [200, 200])
    const { uses, log } = await listed(link.id)
    assert.equal([uses, log.map(({ path }: Json) => path)], [1, ['/']])
    assert.is(await statusOf('/', `${cookie.slice(0, -2)}xx`), 401)
  })

  t('opens no more than its scope, however a path is written', async () => {
    const link = await make({ scope: '/reports' })
    const { cookie, to } = await follow(link.path)
    assert.is(to, '/reports')
    for (const path of ['/reports', '/reports/', '/reports/may?all=1'])
      assert.equal([path, await statusOf(path, cookie)], [path, 200])
    for (const path of [
      '/',
      '/reportsx',
      '/reports/../',
      '/reports/%2e%2e/',
      '/reports/..%2f',
      '/reports/..;/',
      '/reports/%252e%252e/',
      '/reports\\..\\',
      '//reports',
    ]) {
      assert.equal([path, (await statusOf(path, cookie)) >= 400], [path, true])
    }
    const bad = await stage.api('POST', links(), { scope: '/a/../b' })
    assert.equal([bad.status, bad.json.errors[0].pointer], [400, '/scope'])
  })

  t('opens as many sessions as it may, and none after its end', async () => {
    const once = await make({ max_uses: 1 })
    const [first, second] = [await follow(once.path), await follow(once.path)]
    assert.equal([await statusOf('/', first.cookie), await statusOf('/', second.cookie)], [200, 401])
    assert.is(await statusOf('/again', first.cookie), 200)
    assert.is((await listed(once.id)).state, 'used')
    const short = await make({ expires_at: new Date(Date.now() + 3_000).toISOString() })
    const { cookie } = await follow(short.path)
    assert.is(await statusOf('/', cookie), 200)
    await sleep(3_200)
    assert.equal([await statusOf('/', cookie), (await follow(short.path)).status], [401, 403])
    const past = await stage.api('POST', links(), { expires_at: '2020-01-01T00:00:00Z' })
    assert.equal([past.status, past.json.errors[0].pointer], [400, '/expires_at'])
  })

  t(
    'ends at once what a revoked link has opened, its WebSocket too, and leaves that of the password',
    async () => {
      const [link, kept] = [await make(), await make()]
      const { cookie } = await follow(link.path)
      const other = await follow(kept.path)
      const password = String((await signIn(PASSWORD)).headers['set-cookie']).split(';')[0] ?? ''
      const byLink = await openWebSocket(stage.host, 'shut', { cookie })
      const byPassword = await openWebSocket(stage.host, 'shut', { cookie: password })
      assert.is(await statusOf('/', other.cookie), 200)
      // the pass that looks at the app anew is not what this is about
      await sleep(1_500)
      const begunMs = performance.now()
      assert.is((await revoke(link.id)).status, 204)
      await eventually('its WebSocket to be cut', async () => byLink.cut() !== null, 30_000)
      const cutMs = performance.now() - begunMs
      await eventually('its session to be over', async () => (await statusOf('/', cookie)) === 401, 30_000)
      const overMs = performance.now() - begunMs
      assert.ok(cutMs <= REVOKED_MS && overMs <= REVOKED_MS, `WebSocket ${cutMs} ms, session ${overMs} ms`)
      assert.equal(
        [byPassword.cut(), await statusOf('/', other.cookie), (await follow(link.path)).status],
        [null, 200, 403],
      )
      const again = await openWebSocket(stage.host, 'shut', { cookie: other.cookie })
      await Promise.all([again.finish(), byPassword.finish()])
      assert.equal([(await revoke(link.id)).status, (await revoke('lnk-none')).status], [204, 404])
    },
    { timeoutMs },
  )

  t('refuses after ten wrong passwords of one address, says how long, and lets others in', async () => {
    let last = await signIn('wrong password')
    for (let tries = 1; tries < 11; tries++) last = await signIn('wrong password', { 'accept-language': 'es' })
    assert.equal([last.status, Number(last.headers['retry-after']) > 0], [429, true])
    assert.match(last.text, /Demasiadas contraseñas/)
    assert.is((await signIn(PASSWORD)).status, 429)
    const link = await make()
    assert.is(await statusOf('/', (await follow(link.path)).cookie), 200)
  })
})
