/** Signing in with OpenID Connect, against a real provider on this machine. */
import { randomBytes } from 'node:crypto'
import { makeOidc } from '../../../api/auth/signin/oidc.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeLog } from '../../../controllers/base/log.ts'
import { freePort } from '../../../hack/lib/ports.ts'
import { noteCookies } from '../../support/canaries/answers.ts'
import { startProvider } from '../../support/doubles/provider.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const CALLBACK = '/signin/oidc/callback'
const client = { id: 'bottega', secret: randomBytes(24).toString('hex') }
let provider: Awaited<ReturnType<typeof startProvider>>
let platform: Platform

/** A browser as small as can be: follows redirects by hand, keeps cookies by name for each host and port. */
const makeJar = () => {
  const cookies = new Map<string, Map<string, string>>()
  const get = async (url: string) => {
    const { host } = new URL(url)
    const own = cookies.get(host) ?? new Map<string, string>()
    cookies.set(host, own)
    const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } })
    noteCookies(response.headers.getSetCookie())
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /Max-Age=0\b/i.test(line)) own.delete(name)
      else own.set(name, value)
    }
    const location = response.headers.get('location')
    return { status: response.status, text: await response.text(), location: location && new URL(location, url).href }
  }
  return { cookies, get }
}
type Jar = ReturnType<typeof makeJar>

/** Follows until the address matches, without opening it. */
const follow = async (jar: Jar, from: string, until: RegExp): Promise<string> => {
  let url = from
  for (let hops = 0; hops < 12; hops++) {
    if (until.test(url)) return url
    const { status, text, location } = await jar.get(url)
    if (!location) throw new Error(`${url} ended in ${status}: ${text.slice(0, 300)}`)
    url = location
  }
  throw new Error(`too many hops, at ${url}`)
}
const host = () => new URL(platform.baseUrl).host
const begin = (jar: Jar) => follow(jar, `${platform.baseUrl}/signin/oidc?next=/account/tokens`, /\/callback\?/)
const sessionOf = (jar: Jar) => jar.cookies.get(host())?.get('bottega_session')
const changed = (url: string, name: string, value: string): string => {
  const other = new URL(url)
  other.searchParams.set(name, value)
  return other.href
}
const owner = { sub: 'sub-1', email: 'owner@demo.test', email_verified: true }

spec('OpenID Connect', (t) => {
  t.before(async () => {
    // The provider must know where the API will listen before it does.
    const port = await freePort()
    const baseUrl = `http://127.0.0.1:${port}`
    provider = await startProvider({ ...client, callback: `${baseUrl}${CALLBACK}` })
    const given = { ISSUER: provider.issuer, CLIENT_ID: client.id, CLIENT_SECRET: client.secret }
    const oidc = Object.fromEntries(Object.entries(given).map(([name, value]) => [`BOTTEGA_OIDC_${name}`, value]))
    platform = await startPlatform({ env: { ...oidc, BOTTEGA_PUBLIC_URL: baseUrl }, apiPort: port })
  })
  t.after(async () => {
    await provider?.end()
    if (platform) await platform.end()
  })

  t('is offered on the page, and leads to a session', async () => {
    const page = await call(platform.baseUrl, null, 'GET', '/signin')
    assert.match(page.text, /Sign in with 127\.0\.0\.1/)
    provider.expect(owner)
    const jar = makeJar()
    const back = await begin(jar)
    const asked = provider.seen.at(-1)
    assert.is(asked?.get('response_type'), 'code')
    assert.is(asked?.get('code_challenge_method'), 'S256')
    assert.ok((asked?.get('state') ?? '').length >= 40 && (asked?.get('nonce') ?? '').length >= 40)
    const entered = await jar.get(back)
    assert.is(entered.status, 303, entered.text)
    assert.is(entered.location, `${platform.baseUrl}/account/tokens`)
    const self = await call(platform.baseUrl, sessionOf(jar) ?? '', 'GET', '/api/auth/tokens/self')
    assert.is(self.json.account, 'demo')
    const again = await jar.get(back)
    assert.is(again.status, 400, 'the same answer of the provider counts once')
  })

  t('counts only in the browser that began it', async () => {
    provider.expect(owner)
    const [mine, theirs] = [makeJar(), makeJar()]
    const back = await begin(mine)
    assert.is((await theirs.get(back)).status, 400, 'without a cookie')
    await begin(theirs)
    assert.is((await theirs.get(back)).status, 400, 'with the cookie of another visit')
    assert.not.ok(sessionOf(theirs))
  })

  const wrongs: [string, (back: string) => string][] = [
    ['another state', (back) => changed(back, 'state', 'x'.repeat(43))],
    ['another code', (back) => changed(back, 'code', 'x'.repeat(43))],
    ['another issuer', (back) => changed(back, 'iss', 'https://elsewhere.test')],
    ['an error', (back) => changed(back, 'error', 'access_denied')],
  ]
  for (const [what, change] of wrongs) {
    t(`refuses ${what}`, async () => {
      provider.expect(owner)
      const jar = makeJar()
      const reply = await jar.get(change(await begin(jar)))
      assert.is(reply.status, 400, reply.text)
      assert.not.ok(sessionOf(jar))
      assert.not.match(reply.text, /x{43}|elsewhere|access_denied/, 'nothing of it is shown')
    })
  }

  t('demands an address that the provider has verified', async () => {
    const people = [
      { ...owner, sub: 'sub-2', email_verified: false },
      { sub: 'sub-3', email: owner.email },
      { sub: 'sub-4', email_verified: true },
    ]
    for (const person of people) {
      provider.expect(person)
      const jar = makeJar()
      const reply = await jar.get(await begin(jar))
      assert.is(reply.status, 400, reply.text)
      assert.not.ok(sessionOf(jar))
    }
  })

  t('makes no account while sign-up is closed', async () => {
    provider.expect({ sub: 'sub-5', email: 'stranger@demo.test', email_verified: true })
    const jar = makeJar()
    const reply = await jar.get(await begin(jar))
    assert.is(reply.status, 403)
    assert.not.ok(sessionOf(jar))
    assert.is(JSON.parse(await platform.kubectl(['get', 'acct', '-o', 'json'])).items.length, 2)
  })

  t('a visit that took too long is over, and a provider that is away is said to be', async () => {
    let now = new Date()
    const deps = {
      keys: keysOfOne(randomBytes(32)),
      publicUrl: platform.baseUrl,
      now: () => now,
      log: makeLog({ level: 'silent' }),
    }
    const settings = { issuer: provider.issuer, clientId: client.id, clientSecret: client.secret }
    const oidc = makeOidc(settings, deps)
    const { visit } = await oidc.begin('/')
    now = new Date(now.getTime() + 11 * 60_000)
    await assert.rejects(oidc.finish({ code: 'x', state: 'y' }, visit), /too long/)
    await assert.rejects(oidc.finish({ code: 'x', state: 'y' }, 'AAAA'), /did not begin/)
    const away = makeOidc({ ...settings, issuer: `http://127.0.0.1:${await freePort()}` }, deps)
    await assert.rejects(away.begin('/'), /cannot be reached/)
  })
})
