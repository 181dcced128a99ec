import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PRESET_NAMES } from '../../../api/auth/scopes.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, type Minter, makeMinter } from '../../support/stage/callers.ts'
import { call, eventually, mailsIn, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Credentials that a platform gave out, and everywhere that a copy of it could be read: none may be found there. */

type Canary = { name: string; text: string }

/** Encodings under which a secret might lie: as it is, in base64, in hex, and as a URL writes it. */
const formsOf = (text: string): string[] => [
  text,
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('hex'),
  encodeURIComponent(text),
]
const foundIn = (where: string, haystack: string, canaries: readonly Canary[]): string[] =>
  canaries
    .filter(({ text }) => formsOf(text).some((form) => haystack.includes(form)))
    .map(({ name }) => `${name} in ${where}`)

spec('planted credentials', (t) => {
  let platform: Platform
  let minter: Minter
  const canaries: Canary[] = []
  const answers: string[] = []
  const plant = (name: string, text: string) => {
    assert.ok(text.length >= 12, `${name} is long enough to be found`)
    canaries.push({ name, text })
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(platform.baseUrl, platform.owner, 'POST', path, body, headers)
  /** The random part alone is as good as the token. */
  const plantToken = (name: string, secret: string) => plant(name, secret.split('_').slice(2).join('_').slice(0, 27))

  t.before(async () => {
    platform = await startPlatform()
    minter = makeMinter(platform)
    plantToken('a token of the setup', platform.owner)
    const preset = PRESET_NAMES[0]
    for (const [name, headers] of [
      ['a token', {}],
      ['a token minted under an idempotency key', { 'idempotency-key': 'mint-once' }],
    ] as const) {
      const minted = await post('/api/auth/tokens', { name: 'canary', preset }, headers)
      assert.is(minted.status, 201, minted.text)
      plantToken(name, minted.json.secret)
      const rotated = await post(`/api/auth/tokens/${minted.json.token.id}/rotate`, { grace_seconds: 600 }, headers)
      assert.is(rotated.status, 200, rotated.text)
      plantToken(`${name}, rotated`, rotated.json.secret)
      await call(platform.baseUrl, rotated.json.secret, 'GET', '/api/invoices')
    }
    const session = await minter.session('demo')
    plant('a session', session.split('.')[2] ?? '')
    assert.is((await call(platform.baseUrl, session, 'GET', '/api/account')).status, 200)
    const sent = await post('/api/invoices', order(), { 'idempotency-key': 'send-once' })
    plant('the password of a page', sent.json.password)
    // The link to a page is shown in the status on purpose: it opens nothing without the password.
    plant('the server key', platform.secretKey)
    await addAccount(platform, 'another', {})
    await plantWebhook()
    await signInByMail()
    await provoke()
  })
  t.after(async () => {
    await minter.end()
    await platform.end()
  })

  /** Of an endpoint: the secret that signs, the one before it, and both in a check that failed. */
  const plantWebhook = async () => {
    const once = { 'idempotency-key': 'hook-once' }
    const made = await post('/api/webhooks', { url: 'https://hooks.invalid/' }, once)
    const path = `/api/webhooks/${made.json.endpoint.id}`
    const turned = await post(`${path}/rotate`, undefined, once)
    await post(`${path}/test`, undefined)
    for (const [name, { secret }] of Object.entries({
      'a secret that signs': turned.json,
      'the one before': made.json,
    })) {
      plant(name, secret.slice('whsec_'.length))
      const checked = await post('/api/webhooks/verify', { body: secret, headers: { 'webhook-id': secret }, secret })
      answers.push(checked.text)
    }
  }

  /** A one-time link that was not used, and a session that came of one. */
  const signInByMail = async () => {
    const origin = { origin: platform.baseUrl, 'content-type': 'application/x-www-form-urlencoded' }
    const asked = await call(platform.baseUrl, null, 'POST', '/signin', 'email=another%40demo.test', origin)
    assert.ok(asked.status < 400, asked.text)
    const link = await eventually('the mail with the link', async () => {
      const mails = await mailsIn(platform.mailDir)
      return mails.map((mail) => /\/signin\/link\/([\w.-]+)/.exec(mail.text ?? '')?.[1]).find(Boolean)
    })
    plant('a link to sign in', link)
  }

  /** Requests that go wrong with a credential in every place where one can stand. */
  const provoke = async () => {
    const token = platform.owner
    const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    for (const [method, path, body] of [
      ['GET', `/api/invoices?token=${token}`, undefined],
      ['GET', `/api/invoices/${token}`, undefined],
      ['DELETE', `/api/auth/tokens/${token}`, undefined],
      ['POST', '/api/auth/tokens', `{"name": "${token}`],
      ['GET', `/${token}`, undefined],
    ] as const) {
      const reply = await call(platform.baseUrl, token, method, path, body)
      assert.ok(reply.status >= 400 && reply.status < 500, `${method} ${path}: ${reply.status}`)
      answers.push(reply.text)
    }
    for (const bad of [wrong, `${token}x`, token.replace('btg_', 'dbr_')]) {
      answers.push((await call(platform.baseUrl, bad, 'GET', '/api/invoices')).text)
    }
  }

  t('would be found where they lie open, in any encoding', () => {
    const [first] = canaries
    assert.ok(first)
    for (const form of formsOf(first.text)) assert.equal(foundIn('x', `… ${form} …`, [first]).length, 1)
    assert.ok(canaries.length >= 9, canaries.map(({ name }) => name).join(', '))
    assert.is(new Set(canaries.map(({ text }) => text)).size, canaries.length)
  })

  t('are in no row of the database', async () => {
    const tables = await query(
      platform.database.url,
      `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE' order by 1`,
    )
    assert.ok(tables.length > 10)
    const found: string[] = []
    for (const { name } of tables) {
      const rows = await query(platform.database.url, `select t::text as row from ${name} t`)
      // bytea stands in hex; a JSON inside one is found by its hex form.
      found.push(...foundIn(`table ${name}`, rows.map(({ row }) => String(row)).join('\n'), canaries))
    }
    assert.equal(found, [])
  })

  t('are in no log, metric, resource or Event', async () => {
    const folder = dirname(platform.mailDir)
    const found: string[] = []
    for (const name of ['api', 'controllers', 'mail']) {
      found.push(...foundIn(`the log of ${name}`, readFileSync(join(folder, `${name}.log`), 'utf8'), canaries))
    }
    for (const [name, url] of Object.entries(platform.metricsUrls)) {
      found.push(...foundIn(`the metrics of ${name}`, await (await fetch(url)).text(), canaries))
    }
    for (const kind of ['bottega', 'events', 'events.events.k8s.io', 'secrets', 'configmaps']) {
      const listed = await platform.kubectl(['get', kind, '-o', 'json', '--show-managed-fields'])
      found.push(...foundIn(kind, listed, canaries))
    }
    assert.equal(found, [])
  })

  t('are in no refusal', () => assert.equal(foundIn('a refusal', answers.join('\n'), canaries), []))
})
