/** Sessions as their owner has them: cookies that nobody else can plant, a list, and every way in which they end. */
import { hostCookie, setCookie } from '../../../api/auth/cookie.ts'
import { sessionCookie } from '../../../api/auth/signin/session.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { FORM, formBody, sessionsOf, signinLink } from '../../support/builders/account.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** As the world reaches it; requests of the test go to the port itself. */
const PUBLIC = 'https://bottega.test'
const HOST_COOKIE = '__Host-bottega_session'
const BROWSER = 'Mozilla/5.0 (test)'

spec('the cookie of a session', (t) => {
  t('carries the prefix over https, and none over http, where browsers take no such name', () => {
    assert.is(sessionCookie(PUBLIC), HOST_COOKIE)
    assert.is(sessionCookie('http://127.0.0.1:8080'), 'bottega_session')
    const set = setCookie(hostCookie('a', PUBLIC), 'x', { path: '/', maxAgeMs: 1000, publicUrl: PUBLIC })
    assert.is(set, '__Host-a=x; Path=/; Max-Age=1; HttpOnly; SameSite=Lax; Secure')
  })
})

spec('sessions', (t) => {
  let platform: Platform
  let issuer: ReturnType<typeof sessionsOf>
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_PUBLIC_URL: PUBLIC, BOTTEGA_SESSION_IDLE_MINUTES: '30' } })
    issuer = sessionsOf(platform, { publicUrl: PUBLIC })
  })
  t.after(async () => {
    await issuer?.end()
    await platform?.end()
  })

  const get = (path: string, headers: Record<string, string>, method = 'GET') =>
    call(platform.baseUrl, null, method, path, undefined, headers)
  const self = (headers: Record<string, string>) => get('/api/auth/tokens/self', headers)
  const bearer = (jwt: string) => ({ authorization: `Bearer ${jwt}` })
  const cookie = (jwt: string, name = HOST_COOKIE) => ({ cookie: `theme=dark; ${name}=${jwt}` })
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    call(platform.baseUrl, null, 'POST', path, formBody(fields), { ...FORM, ...headers })
  const begin = (account = 'demo', email = 'owner@demo.test') =>
    issuer.sessions.issue(account, 'mail', { email, ip: '192.0.2.7', agent: BROWSER })
  const listed = async (jwt: string) => (await get('/api/auth/sessions', bearer(jwt))).json.sessions
  const idsOf = (sessions: { id: string }[]) => sessions.map(({ id }) => id)

  t('begin with a cookie of this very host, and end by taking it away', async () => {
    await post('/signin', { email: 'owner@demo.test' })
    const link = new URL(await signinLink(platform, 'owner@demo.test'), PUBLIC).pathname
    const entered = await post(link, {}, { 'user-agent': BROWSER })
    const set = entered.headers.get('set-cookie') ?? ''
    assert.match(set, /^__Host-bottega_session=[\w.-]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/)
    const jwt = /=([^;]+)/.exec(set)?.[1] ?? ''
    const [own] = await listed(jwt)
    assert.equal([own.current, own.how, own.user_agent, own.ip_address], [true, 'mail', BROWSER, '127.0.0.1'])
    const page = await get('/account/sessions', cookie(jwt))
    assert.is(page.status, 200, page.text)
    const form_token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const out = await post('/signout', { form_token }, { ...cookie(jwt), origin: PUBLIC })
    assert.is(out.status, 303, out.text)
    assert.match(out.headers.get('set-cookie') ?? '', /^__Host-bottega_session=; Path=\/; Max-Age=0; .*Secure$/)
  })

  t('are not opened by a cookie that a sibling name could have set', async () => {
    const { jwt } = await begin()
    assert.is((await self(cookie(jwt))).status, 200)
    assert.is((await self(cookie(jwt, 'bottega_session'))).status, 401)
    assert.is((await self({ cookie: `bottega_session=${jwt}; ${HOST_COOKIE}=x` })).status, 401)
  })

  t('are listed to their account alone, with what tells them apart, and page by page', async () => {
    const [one, two, foreign] = [await begin(), await begin(), await begin('other', 'other@demo.test')]
    const mine = await listed(two.jwt)
    assert.equal(idsOf(mine).slice(0, 2).sort(), [one.sessionId, two.sessionId].sort())
    assert.not.ok(idsOf(mine).includes(foreign.sessionId))
    assert.equal(
      mine.filter(({ current }: { current: boolean }) => current).map(({ id }: { id: string }) => id),
      [two.sessionId],
    )
    assert.equal([mine[0].ip_address, mine[0].user_agent, mine[0].last_used_at], ['192.0.2.7', BROWSER, null])
    assert.not.match(JSON.stringify(mine), one.jwt.split('.')[2] ?? '')
    const page = (await get('/api/auth/sessions?limit=1&offset=1', bearer(one.jwt))).json
    assert.equal([page.sessions.length, page.total, page.limit, page.offset], [1, mine.length, 1, 1])
    const beyond = (await get('/api/auth/sessions?offset=100', bearer(one.jwt))).json
    assert.equal([beyond.sessions.length, beyond.total], [0, mine.length])
    assert.equal((await call(platform.baseUrl, platform.owner, 'GET', '/api/auth/sessions')).json.total, mine.length)
  })

  t('end one by one, and another account ends none', async () => {
    const [kept, ended, foreign] = [await begin(), await begin(), await begin('other', 'other@demo.test')]
    assert.is((await self(bearer(ended.jwt))).status, 200)
    const path = `/api/auth/sessions/${ended.sessionId}`
    assert.is((await get(path, bearer(foreign.jwt), 'DELETE')).status, 404)
    assert.is((await self(bearer(ended.jwt))).status, 200)
    assert.is((await get(path, bearer(kept.jwt), 'DELETE')).status, 204)
    assert.is((await self(bearer(ended.jwt))).status, 401, 'at once in the process that ended it')
    assert.is((await get(path, bearer(kept.jwt), 'DELETE')).status, 404)
    assert.is((await self(bearer(kept.jwt))).status, 200)
    assert.not.ok(idsOf(await listed(kept.jwt)).includes(ended.sessionId))
  })

  t('end from the page of the account, by its form and by no other', async () => {
    const [mine, lost] = [await begin(), await begin()]
    const page = await get('/account/sessions', cookie(mine.jwt))
    assert.match(page.text, `/account/sessions/${lost.sessionId}/end`)
    assert.not.match(page.text, `/account/sessions/${mine.sessionId}/end`)
    const form_token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const path = `/account/sessions/${lost.sessionId}/end`
    assert.is((await post(path, { form_token: 'x' }, { ...cookie(mine.jwt), origin: PUBLIC })).status, 403)
    assert.is((await post(path, { form_token }, { ...cookie(mine.jwt), origin: PUBLIC })).status, 303)
    assert.is((await self(bearer(lost.jwt))).status, 401)
  })

  t('are over when they were not used for as long as the setting says, and use is noted', async () => {
    const [used, idle] = [await begin(), await begin()]
    const age = (minutes: number, id: string) =>
      query(platform.database.url, "update sessions set created_at = now() - $1 * interval '1 minute' where id = $2", [
        minutes,
        id,
      ])
    await age(29, used.sessionId)
    await age(31, idle.sessionId)
    assert.is((await self(bearer(idle.jwt))).status, 401)
    assert.is((await self(bearer(used.jwt))).status, 200)
    await age(40, used.sessionId)
    const found = (await listed(used.jwt)).find(({ id }: { id: string }) => id === used.sessionId)
    assert.ok(Date.now() - Date.parse(found.last_used_at) < 60_000, 'used a moment ago, begun long before')
    assert.not.ok(idsOf(await listed(used.jwt)).includes(idle.sessionId))
  })

  t('end, all of them, when the address of the account changes, and do not come back with it', async () => {
    const [first, second] = [await begin('other', 'other@demo.test'), await begin('other', 'other@demo.test')]
    for (const { jwt } of [first, second]) assert.is((await self(bearer(jwt))).status, 200)
    const move = (email: string) =>
      platform.kubectl(['patch', 'acct', 'other', '--type=merge', '-p', JSON.stringify({ spec: { email } })])
    await move('moved@demo.test')
    await eventually('the end of both', async () => {
      const states = await Promise.all([first, second].map(async ({ jwt }) => (await self(bearer(jwt))).status))
      return states.every((status) => status === 401)
    })
    await eventually('both being written off', async () => {
      const rows = await query(
        platform.database.url,
        "select 1 from sessions where account = 'other' and revoked_at is null",
      )
      return rows.length === 0
    })
    await move('other@demo.test')
    // one that was begun before the address is seen ends with those of the other
    await eventually('the address of before', async () => {
      const again = await begin('other', 'other@demo.test')
      return (await self(bearer(again.jwt))).status === 200
    })
    for (const { jwt } of [first, second]) assert.is((await self(bearer(jwt))).status, 401)
  })

  t('end with their account', async () => {
    const { jwt, sessionId } = await begin('other', 'other@demo.test')
    await platform.kubectl(['delete', 'acct', 'other'])
    await eventually('the end of the session', async () => (await self(bearer(jwt))).status === 401)
    await eventually('its being written off', async () => {
      const [row] = await query(platform.database.url, 'select revoked_at from sessions where id = $1', [sessionId])
      return row?.revoked_at !== null
    })
  })
})
