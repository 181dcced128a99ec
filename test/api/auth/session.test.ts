/** Sessions on the real platform: what opens, what does not, how they end; and signing in by a mailed link. */
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRemoteJWKSet, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose'
import { REMEMBER_MS } from '../../../api/auth/signin/session.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { FORM, formBody, sessionsOf, signinLink, signinMails } from '../../support/builders/account.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Of the specs one after another: the first starts it, the one about mail ends it. */
let platform: Platform
let issuer: ReturnType<typeof sessionsOf>
const self = (headers: Record<string, string>) =>
  call(platform.baseUrl, null, 'GET', '/api/auth/tokens/self', undefined, headers)
const bearer = (jwt: string) => self({ authorization: `Bearer ${jwt}` })
const cookie = (jwt: string) => ({ cookie: `theme=dark; bottega_session=${jwt}` })
const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = FORM) =>
  call(platform.baseUrl, null, 'POST', path, formBody(fields), { ...FORM, ...headers })
const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const partsOf = (jwt: string) => jwt.split('.') as [string, string, string]
const payloadOf = (jwt: string) => JSON.parse(Buffer.from(partsOf(jwt)[1], 'base64url').toString())
const headerOf = (jwt: string) => JSON.parse(Buffer.from(partsOf(jwt)[0], 'base64url').toString())
/** Rows that this connection wrote and that are not yet in the statistics: what comes between two looks was ours. */
const WRITTEN = `
select relname::text as table, n_tup_ins::int as inserted, n_tup_upd::int as updated, n_tup_del::int as deleted
from pg_stat_xact_user_tables order by relname`
type Written = { table: string; inserted: number; updated: number; deleted: number }
/** A page behind the session, for its form token. */
const formTokenOf = async (jwt: string) => {
  const page = await call(platform.baseUrl, null, 'GET', '/account/tokens', undefined, cookie(jwt))
  return /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
}

/** The real signing key, as only the server key opens it. */
const signingKey = async (): Promise<{ kid: string; key: KeyObject; x: string }> => {
  const [row] = await query(
    platform.database.url,
    'select kid, sealed, public_jwk from session_keys order by signs_from desc limit 1',
  )
  const { kid, sealed, public_jwk } = row as { kid: string; sealed: Buffer; public_jwk: { x: string } }
  const sealer = platform.keys.sealer('session-keys')
  const d = sealer.open(sealed, kid).toString('base64url')
  const { x } = public_jwk
  return { kid, x, key: createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x, d } }) }
}

spec('a session', (t) => {
  t.before(async () => {
    platform = await startPlatform()
    issuer = sessionsOf(platform)
  })

  t('opens as bearer and as cookie, with full access', async () => {
    const { jwt } = await issuer.sessions.issue('demo', 'mail')
    for (const reply of [await bearer(jwt), await self(cookie(jwt))]) {
      assert.is(reply.status, 200, reply.text)
      assert.is(reply.json.kind, 'session')
      assert.is(reply.json.account, 'demo')
      assert.is(reply.json.full_access, true)
    }
  })

  t('is signed with Ed25519 by a key that everybody can look up', async () => {
    const { jwt } = await issuer.sessions.issue('demo', 'mail')
    assert.equal(Object.keys(headerOf(jwt)).sort(), ['alg', 'kid', 'typ'])
    const keys = createRemoteJWKSet(new URL(`${platform.baseUrl}/.well-known/jwks.json`))
    const { payload } = await jwtVerify(jwt, keys, { algorithms: ['EdDSA'], audience: 'bottega' })
    assert.is(payload.iss, platform.baseUrl)
    assert.is(payload.sub, 'demo')
    const { json } = await call(platform.baseUrl, null, 'GET', '/.well-known/jwks.json')
    assert.equal(Object.keys(json.keys[0]).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  })

  t('does not count from a cookie when an Authorization header was sent', async () => {
    const { jwt } = await issuer.sessions.issue('demo', 'mail')
    assert.is((await self({ ...cookie(jwt), authorization: 'Bearer nonsense' })).status, 401)
  })

  t('is refused in every altered form', async () => {
    const { jwt } = await issuer.sessions.issue('demo', 'mail')
    const [head, body, signature] = partsOf(jwt)
    const { kid, key, x } = await signingKey()
    const claims = payloadOf(jwt)
    const now = Math.floor(Date.now() / 1000)
    const sign = (change: object, header: Partial<JWTHeaderParameters> = {}, by: KeyObject = key) =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid, ...header }).sign(by)
    const hmac = (secret: Buffer | string, alg = 'HS256') => {
      const text = `${b64({ alg, typ: 'JWT', kid })}.${body}`
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    }
    const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } })
    const other = generateKeyPairSync('ed25519')
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const without = (claim: string) => sign({ [claim]: undefined })
    const last = signature.at(-5) === 'A' ? 'B' : 'A'
    const bad: Record<string, string> = {
      'alg none': `${b64({ alg: 'none', typ: 'JWT', kid })}.${body}.`,
      'alg None with the signature': `${b64({ alg: 'None', typ: 'JWT', kid })}.${body}.${signature}`,
      'no signature': `${head}.${body}.`,
      'HS256 with the public key as PEM': hmac(publicKey.export({ type: 'spki', format: 'pem' })),
      'HS256 with the public key as DER': hmac(publicKey.export({ type: 'spki', format: 'der' })),
      'HS256 with the public key itself': hmac(Buffer.from(x, 'base64url')),
      'HS256 with an empty key': hmac(''),
      "RS256 by a key of one's own": await sign({}, { alg: 'RS256' }, rsa.privateKey),
      "ES256 by a key of one's own": await sign({}, { alg: 'ES256' }, ec.privateKey),
      'another Ed25519 key': await sign({}, {}, other.privateKey),
      'another key, in the header': await sign(
        {},
        { jwk: other.publicKey.export({ format: 'jwk' }) },
        other.privateKey,
      ),
      'another key, behind a jku': await sign({}, { jku: 'http://127.0.0.1:1/keys.json' }, other.privateKey),
      'a kid that is a path': await sign({}, { kid: '../../../../dev/null' }),
      'a kid that is a statement': await sign({}, { kid: `' or true --` }),
      'a kid that is a prototype': await sign({}, { kid: '__proto__' }),
      'no kid': await sign({}, { kid: undefined } as never),
      'another type of token': await sign({}, { typ: 'at+jwt' }),
      'an unknown critical header': `${b64({ alg: 'EdDSA', typ: 'JWT', kid, crit: ['x'], x: 1 })}.${body}.${signature}`,
      'another audience': await sign({ aud: 'elsewhere' }),
      'another issuer': await sign({ iss: 'https://elsewhere.test' }),
      'another account under the same id': await sign({ sub: 'other' }),
      'an account that does not exist': await sign({ sub: 'nobody' }),
      'an id that was never issued': await sign({ jti: 'AAAAAAAAAAAAAAAAAAAAAA' }),
      'not valid before two minutes': await sign({ nbf: now + 120 }),
      'expired two minutes ago': await sign({ exp: now - 120 }),
      'no iss': await without('iss'),
      'no aud': await without('aud'),
      'no sub': await without('sub'),
      'no jti': await without('jti'),
      'no nbf': await without('nbf'),
      'no exp': await without('exp'),
      'an altered payload': `${head}.${b64({ ...claims, sub: 'other' })}.${signature}`,
      'an altered signature': `${head}.${body}.${signature.slice(0, -5)}${last}${signature.slice(-4)}`,
      'the signature of another session': `${head}.${body}.${partsOf((await issuer.sessions.issue('demo', 'mail')).jwt)[2]}`,
      'five parts': `${head}..${body}.${signature}.x`,
      'megabytes of nothing': `${head}.${'A'.repeat(8_000)}.${signature}`,
    }
    assert.is((await bearer(jwt)).status, 200)
    assert.is((await bearer(await sign({ nbf: now + 30 }))).status, 200, 'a clock may be 60 s off')
    for (const [what, token] of Object.entries(bad)) {
      const reply = await bearer(token)
      assert.is(reply.status, 401, `${what}: ${reply.status} ${reply.text}`)
      assert.is(reply.json.code, 'UNAUTHENTICATED', what)
      assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer realm="bottega"/, what)
      assert.is((await self(cookie(token.replaceAll(/[;,\s]/g, '')))).status, 401, `${what}, as a cookie`)
    }
  })

  t('issued for another installation does not open this one', async () => {
    const elsewhere = sessionsOf(platform, { publicUrl: 'https://elsewhere.test' })
    const { jwt } = await elsewhere.sessions.issue('demo', 'mail')
    await elsewhere.end()
    assert.is((await bearer(jwt)).status, 401)
  })

  t('is over after its time, though its row is still there', async () => {
    const past = sessionsOf(platform, { now: () => new Date(Date.now() - 7 * 86_400_000 - 61_000) })
    const { jwt } = await past.sessions.issue('demo', 'mail')
    await past.end()
    assert.is((await bearer(jwt)).status, 401)
  })

  t('ends within ten seconds in another process', async () => {
    const { jwt, sessionId } = await issuer.sessions.issue('demo', 'mail')
    assert.is((await bearer(jwt)).status, 200)
    await issuer.sessions.revoke(sessionId)
    await assert.rejects(issuer.sessions.verify(jwt), /ended/)
    assert.is(REMEMBER_MS, 10_000)
    await eventually('the end of the session', async () => (await bearer(jwt)).status === 401)
  })

  t('goes on over a rotation of the keys, and the next ones are signed by the new key', async () => {
    const before = await issuer.sessions.issue('demo', 'mail')
    const kid = await issuer.sessions.keys.rotate()
    const between = await issuer.sessions.issue('demo', 'mail')
    assert.is(headerOf(between.jwt).kid, headerOf(before.jwt).kid, 'a new key is published before it signs')
    assert.ok((await issuer.sessions.keys.published()).some((jwk) => jwk.kid === kid))
    const later = sessionsOf(platform, { now: () => new Date(Date.now() + 6 * 60_000) })
    const after = await later.sessions.issue('demo', 'mail')
    assert.is(headerOf(after.jwt).kid, kid)
    for (const { jwt } of [before, between, after]) assert.is((await later.sessions.verify(jwt)).account, 'demo')
    const aWeekLater = sessionsOf(platform, { now: () => new Date(Date.now() + 7 * 86_400_000 + 11 * 60_000) })
    const kept = (await aWeekLater.sessions.keys.published()).map((jwk) => jwk.kid)
    assert.not.ok(kept.includes(headerOf(before.jwt).kid), 'the old key goes when its last session is over')
    await Promise.all([later.end(), aWeekLater.end()])
  })

  t('is signed by one first key, however many processes begin at once', async () => {
    await query(platform.database.url, 'delete from session_keys')
    const many = Array.from({ length: 6 }, () => sessionsOf(platform))
    const issued = await Promise.all(many.map(({ sessions }) => sessions.issue('demo', 'mail')))
    await Promise.all(many.map(({ end }) => end()))
    assert.is(new Set(issued.map(({ jwt }) => headerOf(jwt).kid)).size, 1)
    await sleep(1_100)
    assert.is(
      (await bearer(issued[0]?.jwt ?? '')).status,
      200,
      'the running process looks for a key that it does not know',
    )
    await issuer.end()
    issuer = sessionsOf(platform)
  })

  t('has nothing in the database that signs, without the server key', async () => {
    const { key } = await signingKey()
    const secret = key.export({ format: 'jwk' }).d ?? ''
    const rows = await query(
      platform.database.url,
      'select encode(sealed, $1) as sealed, public_jwk::text from session_keys',
      ['hex'],
    )
    assert.not.ok(JSON.stringify(rows).includes(Buffer.from(secret, 'base64url').toString('hex')))
    assert.not.ok(JSON.stringify(rows).includes(secret))
    const stranger = sessionsOf(platform, { key: Buffer.alloc(32, 7) })
    await assert.rejects(stranger.sessions.issue('demo', 'mail'), /is not in BOTTEGA_SECRET_KEY/)
    await stranger.end()
  })
})

spec('a change that rests on the cookie', (t) => {
  const mint = { name: 'from a form', choice: 'invoicing', days: '30' }
  const count = async () => Number((await query(platform.database.url, 'select count(*) from tokens'))[0]?.count)

  const foreign: [string, Record<string, string>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling of the host', { 'sec-fetch-site': 'same-site' }],
    ['an old browser on another site', { 'sec-fetch-site': '', origin: 'https://evil.test' }],
    ['a page without an origin', { 'sec-fetch-site': '', origin: 'null' }],
  ]
  for (const [who, headers] of foreign) {
    t(`is refused from ${who}, even with the right form token`, async () => {
      const { jwt } = await issuer.sessions.issue('demo', 'mail')
      const before = await count()
      const form_token = await formTokenOf(jwt)
      assert.ok(form_token)
      const kept = Object.fromEntries(Object.entries({ ...FORM, ...headers }).filter(([, value]) => value !== ''))
      const options = { method: 'POST', redirect: 'manual', body: formBody({ ...mint, form_token }) } as const
      const url = `${platform.baseUrl}/account/tokens`
      const reply = await fetch(url, { ...options, headers: { ...kept, ...cookie(jwt) } })
      // Node's fetch says nothing of where it comes from, as a program that is no browser.
      assert.is(reply.status, 403, await reply.text())
      assert.is(await count(), before)
    })
  }

  t(
    'goes through from a program that says nothing of where it comes from, with the right form token only',
    async () => {
      const { jwt } = await issuer.sessions.issue('demo', 'mail')
      const form_token = await formTokenOf(jwt)
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      const send = (body: Record<string, string>) =>
        call(platform.baseUrl, null, 'POST', '/account/tokens', formBody(body), { ...cookie(jwt), ...type })
      assert.is((await send(mint)).status, 403)
      assert.is((await send({ ...mint, form_token })).status, 201)
      const json = await call(
        platform.baseUrl,
        null,
        'POST',
        '/api/auth/tokens',
        { name: 'x', preset: 'apps' },
        cookie(jwt),
      )
      assert.equal([json.status, json.json.code], [403, 'CROSS_SITE'])
    },
  )

  t('is refused without the token of the form, or with that of another session', async () => {
    const [mine, yours] = [await issuer.sessions.issue('demo', 'mail'), await issuer.sessions.issue('other', 'mail')]
    const before = await count()
    const tokens = ['', 'AAAAAAAAAAAAAAAAAAAAAA', await formTokenOf(yours.jwt)]
    for (const form_token of tokens) {
      assert.is((await post('/account/tokens', { ...mint, form_token }, cookie(mine.jwt))).status, 403)
    }
    assert.is(await count(), before)
  })

  t('is refused on the API too, and a bearer needs none of this', async () => {
    const { jwt } = await issuer.sessions.issue('demo', 'mail')
    const body = { name: 'by a script', preset: 'invoicing' }
    const send = (headers: Record<string, string>) =>
      call(platform.baseUrl, null, 'POST', '/api/auth/tokens', body, headers)
    const refused = await send({ ...cookie(jwt), 'sec-fetch-site': 'cross-site' })
    assert.is(refused.status, 403)
    assert.is(refused.json.code, 'CROSS_SITE')
    assert.is((await send({ ...cookie(jwt), 'sec-fetch-site': 'same-origin' })).status, 201)
    assert.is((await send({ authorization: `Bearer ${jwt}` })).status, 201)
  })

  t('makes one token however often the same showing of the form is sent', async () => {
    const { jwt } = await issuer.sessions.issue('demo', 'mail')
    const page = await call(platform.baseUrl, null, 'GET', '/account/tokens', undefined, cookie(jwt))
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page.text)?.[1] ?? ''
    const sent = { ...mint, form_token: field('form_token'), once: field('once') }
    const before = await count()
    const shown = [await post('/account/tokens', sent, cookie(jwt)), await post('/account/tokens', sent, cookie(jwt))]
    assert.equal(new Set(shown.map(({ text }) => /id="secret">(btg_[^<]+)</.exec(text)?.[1])).size, 1)
    assert.is(await count(), before + 1)
  })

  t('goes through from our own page, and signing out ends the session', async () => {
    const { jwt } = await issuer.sessions.issue('demo', 'mail')
    const form_token = await formTokenOf(jwt)
    const made = await post('/account/tokens', { ...mint, form_token }, cookie(jwt))
    assert.is(made.status, 201, made.text)
    const secret = /id="secret">(btg_[^<]+)</.exec(made.text)?.[1] ?? ''
    assert.is((await call(platform.baseUrl, secret, 'GET', '/api/invoices')).status, 200)
    assert.is((await post('/signout', {}, cookie(jwt))).status, 403)
    const out = await post('/signout', { form_token }, cookie(jwt))
    assert.is(out.status, 303)
    assert.match(out.headers.get('set-cookie') ?? '', /^bottega_session=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/)
    assert.is((await bearer(jwt)).status, 401, 'at once in the process that ended it')
    const page = await call(platform.baseUrl, null, 'GET', '/account/tokens', undefined, cookie(jwt))
    assert.is(page.status, 303)
    assert.is(page.headers.get('location'), '/signin?next=%2Faccount%2Ftokens')
  })

  t('a token opens no page: it did not sign in', async () => {
    const page = await call(platform.baseUrl, platform.owner, 'GET', '/account/tokens')
    assert.ok(page.status === 403 || page.status === 303, String(page.status))
  })
})

spec('signing in by mail', (t) => {
  t.after(async () => {
    await issuer.end()
    await platform.end()
  })

  t('leads from an address to a session, once', async () => {
    const asked = await post('/signin', { email: 'Owner@Demo.test', next: '/account/tokens' })
    assert.is(asked.status, 200, asked.text)
    const link = await signinLink(platform, 'owner@demo.test')
    for (const _look of [1, 2, 3]) {
      const page = await call(platform.baseUrl, null, 'GET', link)
      assert.is(page.status, 200)
      assert.is(page.headers.get('set-cookie'), null, 'a scanner that opens the link signs nobody in')
    }
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(link, {})))
    assert.equal(answers.map(({ status }) => status).sort(), [303, 410, 410, 410])
    const entered = answers.find(({ status }) => status === 303)
    assert.is(entered?.headers.get('location'), '/account/tokens')
    const set = entered?.headers.get('set-cookie') ?? ''
    assert.match(set, /^bottega_session=[\w.-]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/)
    const jwt = /=([^;]+)/.exec(set)?.[1] ?? ''
    assert.is((await bearer(jwt)).json.account, 'demo')
    assert.is((await call(platform.baseUrl, null, 'GET', link)).status, 410)
  })

  t('answers the same for an address that nobody has, and mails nothing', async () => {
    const [known, unknown] = [
      await post('/signin', { email: 'other@demo.test' }),
      await post('/signin', { email: 'nobody@demo.test' }),
    ]
    assert.is(known.status, unknown.status)
    assert.is(known.text, unknown.text)
    await signinLink(platform, 'other@demo.test')
    assert.is((await signinMails(platform, 'nobody@demo.test')).length, 0)
  })

  t('writes as much for both, which is most of the time that it takes', async () => {
    const { pg, sessions: _unused, end } = sessionsOf(platform)
    const work = (email: string) =>
      pg.tx(async (run) => {
        const at = new Date()
        const values = [crypto.randomUUID(), email, '/', false, `<${crypto.randomUUID()}@x.test>`, at, at, 1000]
        const before = (await run<Written>('test_written', WRITTEN, [])).rows
        await run('ask_signin', 'select ask_signin($1, $2, $3, $4, $5, $6, $7, $8)', values)
        const after = (await run<Written>('test_written', WRITTEN, [])).rows
        return after.flatMap(({ table, inserted, updated, deleted }, n) => {
          const was = before[n]
          const counts = [inserted - (was?.inserted ?? 0), updated - (was?.updated ?? 0), deleted - (was?.deleted ?? 0)]
          return counts.some((count) => count !== 0) ? [`${table} ${counts.join(' ')}`] : []
        })
      })
    for (let round = 0; round < 10; round++) {
      const [known, unknown] = [await work('other@demo.test'), await work('nobody@demo.test')]
      assert.equal(known, ['outbox 1 0 0', 'signins 1 0 0'])
      assert.equal(unknown, known)
    }
    await end()
    await query(platform.database.url, 'delete from outbox where purpose = $1', ['signin'])
  })

  t('does not fill a mailbox: five links in fifteen minutes', async () => {
    for (let n = 0; n < 8; n++) assert.is((await post('/signin', { email: 'owner@demo.test' })).status, 200)
    await sleep(3_000)
    const sent = await signinMails(platform, 'owner@demo.test')
    assert.ok(sent.length <= 5, String(sent.length))
  })

  t('refuses what is no address, a form from elsewhere, and a link that was not made here', async () => {
    for (const email of [
      '',
      'x',
      'a@b@c.test',
      'a b@c.test',
      'a@c.test\r\nBcc: x@y.test',
      `${'a'.repeat(250)}@c.test`,
    ]) {
      assert.is((await post('/signin', { email })).status, 400, email)
    }
    assert.is((await post('/signin', { email: 'a@b.test' }, { 'sec-fetch-site': 'cross-site' })).status, 403)
    const ids = await query(platform.database.url, 'select id from signins limit 1')
    for (const token of ['x', 'x.y', `${ids[0]?.id}`, `${ids[0]?.id}.AAAAAAAAAAAAAAAAAAAAAA`, '__proto__']) {
      assert.is((await call(platform.baseUrl, null, 'GET', `/signin/link/${token}`)).status, 410, token)
      assert.is((await post(`/signin/link/${token}`, {})).status, 410, token)
    }
  })

  t('never leads to another host', async () => {
    for (const next of [
      '//evil.test',
      'https://evil.test',
      '/\\evil.test',
      '/x\r\nSet-Cookie: a=b',
      'javascript:alert(1)',
    ]) {
      const page = await call(platform.baseUrl, null, 'GET', `/signin?next=${encodeURIComponent(next)}`)
      assert.match(page.text, /name="next" value="\/account\/tokens"/, next)
    }
  })

  t('opens nothing after fifteen minutes', async () => {
    await query(platform.database.url, 'delete from signins where email = $1', ['other@demo.test'])
    const before = (await signinMails(platform, 'other@demo.test')).length
    await post('/signin', { email: 'other@demo.test' })
    const link = await signinLink(platform, 'other@demo.test', before + 1)
    assert.is((await call(platform.baseUrl, null, 'GET', link)).status, 200)
    await query(platform.database.url, "update signins set expires_at = now() - interval '1 second' where email = $1", [
      'other@demo.test',
    ])
    assert.is((await call(platform.baseUrl, null, 'GET', link)).status, 410)
    assert.is((await post(link, {})).status, 410)
  })

  t('keeps nothing in the database that opens', async () => {
    const [known] = await query(platform.database.url, 'select id from signins limit 1')
    const rows = await query(
      platform.database.url,
      'select payload::text, message_id from outbox union all select s::text, null from signins s',
    )
    assert.ok(known)
    assert.not.match(JSON.stringify(rows), /signin\/link|[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{22}/)
  })
})

spec('sign-up where it is open', (t) => {
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_SIGN_UP: 'open' } })
  })
  t.after(async () => {
    if (platform) await platform.end()
  })

  t('makes one free account of a confirmed address, and none before', async () => {
    await post('/signin', { email: 'New.Person@demo.test' })
    const link = await signinLink(platform, 'New.Person@demo.test')
    const accounts = async () => JSON.parse(await platform.kubectl(['get', 'acct', '-o', 'json'])).items
    assert.is((await accounts()).length, 2)
    const answers = await Promise.all([1, 2, 3].map(() => post(link, {})))
    assert.equal(answers.map(({ status }) => status).sort(), [303, 410, 410])
    const made = (await accounts()).filter(
      (one: { spec: { email: string } }) => one.spec.email === 'New.Person@demo.test',
    )
    assert.is(made.length, 1)
    assert.is(made[0].spec.plan, 'free')
    assert.is(made[0].spec.role, 'member')
    const jwt =
      /=([^;]+)/.exec(answers.find(({ status }) => status === 303)?.headers.get('set-cookie') ?? '')?.[1] ?? ''
    assert.is((await bearer(jwt)).json.account, made[0].metadata.name)
  })
})
