import { SCOPE_NAMES } from '../../../api/auth/scopes.ts'
import { newToken } from '../../../api/auth/tokens.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { makeOperationStore } from '../../../controllers/store/request/operations.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { publicKey } from '../../support/builders/devinstance.ts'
import { png } from '../../support/builders/logos.ts'
import { type StandInLlm, says, startLlm } from '../../support/doubles/llm.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, type Minter, makeMinter } from '../../support/stage/callers.ts'
import { call, eventually, order, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'
import { BODIES, NEVER_SUCCEED } from './bodies.ts'

/**
 * Every route, called by everybody: what a cell must answer follows from the route's declaration alone, so a new route
 * is in the matrix as soon as it stands in allRoutes.
 */

/**
 * - challenged: 401 with a challenge, or for a page the way to sign in
 * - forbidden: 403, which names what is missing
 * - hidden: 404, as if it were not there
 * - served: the handler was reached: neither of these, nor a failure of ours
 * - open: a public route; whoever calls, the answer is the same
 */
type Class = 'challenged' | 'forbidden' | 'hidden' | 'served' | 'open'

const BAD = ['nobody', 'garbage', 'typing error', 'expired', 'revoked', 'rotated away', 'report token'] as const
const SCOPED = ['wrong scopes', 'right scope'] as const
const OWNER = ['full access', 'session'] as const
const STRANGERS = ['other account', 'team member', 'reviewer', 'admin'] as const
const COLUMNS = [...BAD, ...SCOPED, ...OWNER, ...STRANGERS] as const
type Column = (typeof COLUMNS)[number]

const isIn = (group: readonly Column[], column: Column) => group.includes(column)
const nameOf = ({ method, path }: Route) => `${method} ${path}`
/** Things under /api/admin are found by every administrator, and what a reviewer decides on is somebody else's. */
const isOwned = ({ path, role }: Route) =>
  /\/:(id|operationId)/.test(path) && !path.startsWith('/api/admin/') && role !== 'reviewer'

const roleOf = (column: Column) => (column === 'reviewer' || column === 'admin' ? column : 'member')
const hasRole = ({ role }: Route, column: Column) =>
  role === undefined || roleOf(column) === role || roleOf(column) === 'admin'

const mayEnter = ({ scope }: Route, column: Column): boolean => {
  switch (scope.kind) {
    case 'scope':
      return column !== 'wrong scopes'
    case 'full':
      return !isIn(SCOPED, column)
    case 'session':
      return column === 'session' || isIn(STRANGERS, column)
    case 'report':
      return false
    default:
      return true
  }
}

const expected = (route: Route, column: Column): Class => {
  if (route.scope.kind === 'public') return 'open'
  if (isIn(BAD, column) || route.scope.kind === 'report') return 'challenged'
  if (!mayEnter(route, column) || !hasRole(route, column) || route.capability) return 'forbidden'
  // Administrators see every dev instance and every host (rules/devinstance.md#who-sees-an-instance,
  // rules/host.md#who-sees-a-host); who decides on sites sees how each stands in review (rules/site.md#review-desk).
  const isReviewed =
    isIn(['reviewer', 'admin'], column) && /^\/api\/website\/:id\/(review|certificate)$/.test(route.path)
  const isShown = isReviewed || (column === 'admin' && /^\/api\/(devboxes|apps\/hosts)\//.test(route.path))
  return isOwned(route) && isIn(STRANGERS, column) && !isShown ? 'hidden' : 'served'
}

/** Refusals of a handler that was reached: the body is not what it wants, or the state forbids it. */
const REACHED = new Set([400, 409, 412, 413, 415, 422, 428])

const isPage = ({ hidden, path }: Route) => hidden === true && !path.startsWith('/api/')
const asked = ({ headers }: Reply) => headers.get('www-authenticate') ?? ''

/** Whether an answer below 500 is of the class. */
const IS: Record<Class, (reply: Reply, route: Route) => boolean> = {
  challenged: (reply, route) =>
    isPage(route)
      ? reply.status === 303 && (reply.headers.get('location') ?? '').startsWith('/signin')
      : reply.status === 401 && asked(reply).startsWith('Bearer realm=') && reply.json.code === 'UNAUTHENTICATED',
  forbidden: (reply, route) => {
    if (reply.status !== 403 || isPage(route)) return reply.status === 403
    const { scope } = route
    return reply.json.code !== 'FORBIDDEN' || scope.kind !== 'scope' || asked(reply).includes(`scope="${scope.scope}"`)
  },
  hidden: ({ status, json }, route) => status === 404 && (isPage(route) || json.code === 'NOT_FOUND'),
  // one look of an account at a time, and two of its callers may ask at once
  served: ({ status }, { path }) =>
    status < 400 || REACHED.has(status) || (status === 429 && path.endsWith('/attestation')),
  open: () => true,
}

/** What is wrong with an answer; undefined when it is of the class. */
const wrongWith = (wanted: Class, route: Route, reply: Reply): string | undefined => {
  if (reply.status < 500 && IS[wanted](reply, route)) return undefined
  return `${reply.status} ${reply.json?.code ?? ''} ${reply.json?.detail ?? reply.text.slice(0, 80)}`
}

spec('the matrix of every route and every caller', (t) => {
  let platform: Platform
  let llm: StandInLlm
  let minter: Minter
  let site: { id: string; link: string }
  let invoice: { id: string; link: string; sha256: string }
  /** It was edited since it was sent. */
  let edited: string
  let issuer: string
  let devbox: string
  let app: string
  let operation: string
  let hook: { id: string; delivery: string }
  let quarantined: string
  const full: Record<string, string> = {}
  const spoilt: Record<string, string | null> = {}
  const accountOf: Partial<Record<Column, string>> = {
    'other account': 'other',
    'team member': 'mate',
    reviewer: 'reviewer',
    admin: 'admin',
  }
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)

  const newSite = async (): Promise<string> => {
    const content = { meta: { company_name: 'Matrix' } }
    const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/website/generate', { content })
    assert.ok(made.status === 201 || made.status === 202, made.text)
    return made.json.site.id
  }
  const submittedSite = async () => {
    const id = await newSite()
    const path = `/api/website/${id}/submit-review`
    const { json } = await call(platform.baseUrl, platform.owner, 'POST', path, {})
    return { id, link: new URL(json.site.review.url).pathname.split('/').at(-1) ?? '' }
  }

  const spoil = async () => {
    const [expired, revoked, rotated] = await Promise.all([1, 2, 3].map(() => minter.token('demo')))
    if (!expired || !revoked || !rotated) throw new Error('three tokens were minted')
    await sql(`update tokens set expires_at = now() - interval '1 second' where id = $1`, [expired.id])
    await minter.tokens.revoke('demo', revoked.id)
    await minter.tokens.rotate('demo', rotated.id, 0)
    const { token } = newToken()
    Object.assign(spoilt, {
      nobody: null,
      garbage: newToken().token,
      'typing error': `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
      expired: expired.secret,
      revoked: revoked.secret,
      'rotated away': rotated.secret,
      'report token': token.replace('btg_', 'dbr_'),
    })
  }

  t.before(async () => {
    llm = await startLlm()
    const content = { meta: { company_name: 'Matrix' } }
    llm.will(says({ reply: 'Yes.', draft: {}, items: [], content, quotes: [] }))
    platform = await startPlatform({
      // nobody answers there, at once
      env: { BOTTEGA_LLM_URL: llm.url, BOTTEGA_LLM_MODEL: 'small', BOTTEGA_DNS_SERVERS: '127.0.0.1:9' },
    })
    minter = makeMinter(platform)
    await platform.kubectl([
      'patch',
      'acct',
      'demo',
      '--type=merge',
      '-p',
      '{"spec":{"teams":["studio"],"limits":{"webhookEndpoints":1000}}}',
    ])
    full['full access'] = platform.owner
    full['other account'] = await platform.token('other')
    full['team member'] = await addAccount(platform, 'mate', { teams: ['studio'] })
    full.reviewer = await addAccount(platform, 'reviewer', { role: 'reviewer' })
    full.admin = await addAccount(platform, 'admin', { role: 'admin' })
    await spoil()
    const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order())
    assert.is(made.status, 201, made.text)
    const { id } = made.json.invoice
    const shots = await call(platform.baseUrl, platform.owner, 'GET', `/api/invoices/${id}/snapshots`)
    const link = new URL(made.json.url).pathname.split('/').at(-1) ?? ''
    invoice = { id, link, sha256: shots.json.snapshots[0].sha256 }
    edited = await makeEdited()
    issuer = await makeIssuer()
    site = await submittedSite()
    devbox = await makeDevInstance()
    app = await makeApp()
    hook = await makeHook()
    operation = await makeOperation()
    quarantined = await setAside()
  })
  t.after(async () => {
    await minter.end()
    await platform.end()
    await llm.end()
  })

  /** An issuer of `demo` with a logo. */
  const makeIssuer = async (): Promise<string> => {
    const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices/issuers', {})
    const { id } = made.json.issuer
    const headers = { authorization: `Bearer ${platform.owner}` }
    const target = `${platform.baseUrl}/api/invoices/issuers/${id}/logo`
    const { status } = await fetch(target, { method: 'POST', headers, body: png })
    assert.is(status, 200)
    return id
  }

  /** An endpoint of `demo` that leads nowhere, with an attempt in its log. */
  const makeHook = async () => {
    const ask = (path: string, body?: unknown, headers = {}) =>
      call(platform.baseUrl, platform.owner, 'POST', `/api/webhooks${path}`, body, headers)
    const made = await eventually('the limit to be raised', async () => {
      const reply = await ask('', BODIES['POST /api/webhooks']?.())
      return reply.status === 201 && reply
    })
    const { id } = made.json.endpoint
    const ping = await ask(`/${id}/test`, undefined, { prefer: 'respond-async' })
    return { id, delivery: ping.json.delivery.id }
  }

  /** A public key of `demo`. */
  const newKey = async (): Promise<string> => {
    const body = { name: 'laptop', public_key: publicKey() }
    return (await call(platform.baseUrl, platform.owner, 'POST', '/api/account/ssh-keys', body)).json.ssh_key.id
  }

  /** An app of `demo` on a host that nobody reaches, with an operation that has ended. */
  const makeApp = async (): Promise<string> => {
    const apply = (kind: string, name: string, spec: object) =>
      platform.kubectl(['apply', '-f', '-'], { apiVersion: 'bottega.dev/v1alpha1', kind, metadata: { name }, spec })
    const hostKey = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`
    const at = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey }
    await apply('Host', 'away', { ...at, baseDomain: 'away.test', approved: true, class: 'owned', account: 'demo' })
    await apply('App', 'app-matrix', { account: 'demo', slug: 'matrix', hostId: 'away' })
    const isSeen = async () =>
      (await call(platform.baseUrl, platform.owner, 'GET', '/api/apps/app-matrix')).status === 200
    await eventually('the app', isSeen)
    await query(
      platform.database.url,
      `insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at, ended_at)
       values ('op-matrix', 'app-matrix', 'demo', 1, 'env', '{}', false, 'failed', now(), now())`,
    )
    await query(
      platform.database.url,
      `insert into app_runs (id, app, account, cause, service, command, timeout_seconds, repeatable, env_keys, attempt, state, created_at, ended_at)
       values ('op-matrix', 'app-matrix', 'demo', 'asked', 'web', '["true"]', 60, false, '{}', 1, 'failed', now(), now())`,
    )
    await query(
      platform.database.url,
      `insert into app_backups (id, app, account, volume, consistency, state, packed, created_at, started_at, ended_at, dropped_at)
       values ('bak-matrix', 'app-matrix', 'demo', 'data', 'moment', 'succeeded', '{"bytes": 0, "sha256": "none", "how": "still"}',
         now(), now(), now(), now())`,
    )
    await query(
      platform.database.url,
      `insert into app_previews (app, parent, account, ref, created_at, expires_at, ended_at, reason)
       values ('app-matrix-branch', 'app-matrix', 'demo', 'main', now(), now(), now(), 'deleted')`,
    )
    return 'app-matrix'
  }

  /** One of `demo` that nobody can judge any more. */
  const makeOperation = async (): Promise<string> => {
    const pg = makePg({ url: platform.database.url, max: 1 })
    const sealer = platform.keys.sealer('operation')
    const asked = {
      account: 'demo',
      method: 'POST',
      path: '/api/invoices',
      scope: { kind: 'token' },
      command: 'of before',
    }
    const of = { kind: 'Invoice', name: 'inv-1', resource: '/api/invoices/inv-1', goal: {} }
    const createdAt = new Date().toISOString()
    const { id } = await makeOperationStore({ pg, sealer }).add({ id: 'op-asked', ...asked, ...of, createdAt })
    await pg.close()
    return id
  }

  /** A dev instance of `demo`, which has lost its capability since: what needs it is forbidden to everybody here. */
  const makeDevInstance = async (): Promise<string> => {
    const able = (capabilities: string[]) =>
      platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', JSON.stringify({ spec: { capabilities } })])
    const reserve = () =>
      call(platform.baseUrl, platform.owner, 'POST', '/api/devboxes', { name: 'box', sizeClass: 'XS' })
    await able(['devbox.manage'])
    const made = await eventually('the capability', async () => {
      const reply = await reserve()
      return reply.status === 201 && reply
    })
    await able([])
    await eventually('the capability to be gone', async () => (await reserve()).status === 403)
    return made.json.devbox.id
  }

  const makeEdited = async (): Promise<string> => {
    const sent = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order())
    const { id } = sent.json.invoice
    const made = await call(platform.baseUrl, platform.owner, 'PATCH', `/api/invoices/${id}`, { client_name: 'Edited' })
    assert.ok(made.json.invoice.pending_revision, made.text)
    return id
  }

  /** Released already, so that a repeat changes nothing. */
  const setAside = async (): Promise<string> => {
    const [row] = await sql(`insert into quarantine
      (source, source_id, kind, resource, account, reason, tries, at, released_at, released_by)
      values ('mail', 0, 'Invoice', 'inv-none', 'demo', 'for the matrix', 1, now(), now(), 'boss') returning id::int`)
    return String(row?.id)
  }

  const aSession = async () => (await minter.sessions.issue('demo', 'mail')).sessionId

  /** Something of the account `demo` to point at: made anew for what a route may destroy. */
  const idFor = async ({ path, method }: Route): Promise<string> => {
    const places: [start: string, id: () => string | Promise<string>][] = [
      ['/api/admin/quarantine/', () => quarantined],
      ['/api/admin/', () => 'other'],
      ['/api/invoices/issuers/', () => issuer],
      ['/api/webhooks/', async () => (method === 'DELETE' ? (await makeHook()).id : hook.id)],
      ['/account/webhooks/', () => hook.id],
      ['/api/website/', () => (method === 'DELETE' ? newSite() : site.id)],
      ['/review/sites/', () => site.id],
      ['/account/reviews/', () => site.id],
      ['/api/devboxes/', () => devbox],
      ['/api/account/ssh-keys/', newKey],
      ['/api/apps/hosts/', () => 'away'],
      ['/api/apps/', () => app],
      ['/api/operations/', () => operation],
      ['/api/auth/sessions/', aSession],
      ['/account/sessions/', aSession],
    ]
    const place = places.find(([start]) => path.startsWith(start))
    if (place) return place[1]()
    if (path.includes('/:id/revision')) return edited
    if (/\/sessions\//.test(path)) return (await minter.sessions.issue('demo', 'mail')).sessionId
    return /\/tokens\//.test(path) ? (await minter.token('demo')).id : invoice.id
  }
  const aMessage = async (site: string): Promise<string> => {
    const [row] = await sql(`insert into site_messages (id, site, account, key, sealed, held, day, at)
      values ('msg-' || gen_random_uuid(), '${site}', 'demo', '', '', true, current_date, now()) returning id`)
    return String(row?.id)
  }
  const pathFor = async (route: Route): Promise<string> => {
    const id = route.path.includes(':id') ? await idFor(route) : ''
    const values: Record<string, string> = {
      id,
      message: route.path.includes(':message') ? await aMessage(id) : '',
      sha256: invoice.sha256,
      token: route.path.startsWith('/review/') ? site.link : invoice.link,
      code: 'NOT_FOUND',
      operationId: 'op-matrix',
      backup: 'bak-matrix',
      preview: 'app-matrix-branch',
      name: 'data',
      capability: 'app.deploy',
      delivery: hook.delivery,
    }
    return route.path.replace(/\{.*\}$/, '').replace(/:(\w+)/g, (_, name) => values[name] ?? 'unknown')
  }

  const scopedFor = async ({ scope }: Route, column: Column): Promise<string> => {
    const own = scope.kind === 'scope' ? [scope.scope] : []
    const others = SCOPE_NAMES.filter((name) => !own.includes(name))
    const scopes = column === 'right scope' && own.length > 0 ? own : others
    return (await minter.token('demo', { scopes })).secret
  }
  const credentialFor = async (route: Route, column: Column): Promise<string | null> => {
    if (isIn(BAD, column)) return spoilt[column] ?? null
    if (isIn(SCOPED, column)) return scopedFor(route, column)
    if (column === 'session') return minter.session('demo')
    const account = accountOf[column]
    return route.scope.kind === 'session' && account ? minter.session(account) : (full[column] ?? null)
  }

  const cell = async (route: Route, column: Column): Promise<Reply> => {
    const [credential, path] = [await credentialFor(route, column), await pathFor(route)]
    const body = BODIES[nameOf(route)]?.() ?? (route.body ? {} : undefined)
    return call(platform.baseUrl, credential, route.method, path, body)
  }

  /** Tokens of the row before would count against the account's cap. */
  const clear = () =>
    sql(`delete from tokens where account = 'demo' and name in ('test', 'made in the matrix')
      and revoked_at is null and expires_at is null and rotated_at is null`)

  const row = async (route: Route): Promise<{ wrong: string[]; isReached: boolean }> => {
    await clear()
    const cells = await Promise.all(COLUMNS.map(async (column) => ({ column, reply: await cell(route, column) })))
    const statuses = new Set(cells.map(({ reply }) => reply.status).filter((status) => status !== 429))
    const differs = route.scope.kind === 'public' && statuses.size > 1
    const wrong = cells.flatMap(({ column, reply }) => {
      const wanted = expected(route, column)
      const fault = wrongWith(wanted, route, reply)
      return fault === undefined ? [] : [`${nameOf(route)} × ${column}: wanted ${wanted}, got ${fault}`]
    })
    return {
      wrong: differs ? [...wrong, `${nameOf(route)} is public and answers ${[...statuses].join(' or ')}`] : wrong,
      isReached: cells.some(({ column, reply }) => expected(route, column) === 'served' && reply.status < 400),
    }
  }

  t(
    'has the right answer in every cell, and never a failure of ours',
    async () => {
      const wrong: string[] = []
      const unreached: string[] = []
      for (const route of allRoutes) {
        const found = await row(route)
        wrong.push(...found.wrong)
        const isServed = COLUMNS.some((column) => expected(route, column) === 'served')
        if (isServed && !found.isReached) unreached.push(nameOf(route))
      }
      const [rows, columns] = [allRoutes.length, COLUMNS.length]
      console.log(`\ncounted: ${rows * columns} cells, ${rows} routes × ${columns} callers`)
      assert.equal(wrong, [])
      assert.equal(unreached.sort(), NEVER_SUCCEED.toSorted())
    },
    { timeoutMs: 400_000 },
  )

  t('tells a request without a credential from one with a bad one', async () => {
    const ask = async (token: string | null) =>
      (await call(platform.baseUrl, token, 'GET', '/api/invoices')).headers.get('www-authenticate')
    assert.is(await ask(null), 'Bearer realm="bottega"')
    for (const column of BAD.slice(1)) {
      assert.is(await ask(spoilt[column] ?? null), 'Bearer realm="bottega", error="invalid_token"', column)
    }
  })

  t('mints what is asked, shows the secret once, and refuses what is not well formed', async () => {
    const mint = (body: unknown) => call(platform.baseUrl, platform.owner, 'POST', '/api/auth/tokens', body)
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const good = await mint({ name: ' ci ', preset: 'invoicing', expires_at: soon })
    const { token, secret } = good.json
    assert.equal([good.status, token.name, token.preset, token.expires_at], [201, 'ci', 'invoicing', soon])
    const held = (await call(platform.baseUrl, secret, 'GET', '/api/auth/tokens/self')).json
    assert.equal([held.kind, held.full_access, held.scopes, held.token.id], ['token', false, token.scopes, token.id])
    const own = (await call(platform.baseUrl, platform.owner, 'GET', '/api/auth/tokens/self')).json
    assert.equal([own.full_access, own.scopes], [true, null])
    const listed = await call(platform.baseUrl, platform.owner, 'GET', '/api/auth/tokens?limit=1')
    assert.equal([listed.json.tokens[0].id, listed.json.limit], [token.id, 1])
    assert.not.match(listed.text, secret.slice(-20))
    const catalogue = (await call(platform.baseUrl, null, 'GET', '/api/auth/scopes')).json
    assert.equal(catalogue.presets[0].scopes, token.scopes)
    for (const [body, pointer] of [
      [{ name: 'x' }, '/scopes'],
      [{ name: 'x', scopes: ['apps:read'], preset: 'apps' }, '/preset'],
      [{ name: 'x', scopes: ['all'] }, '/scopes/0'],
      [{ name: 'x', scopes: [] }, '/scopes'],
      [{ name: 'x', preset: 'root' }, '/preset'],
      [{ name: '   ', preset: 'apps' }, '/name'],
      [{ name: 'a\nb', preset: 'apps' }, '/name'],
      [{ preset: 'apps' }, '/name'],
      [{ name: 'x', preset: 'apps', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
      [{ name: 'x', preset: 'apps', expires_at: '2999-01-01T00:00:00Z' }, '/expires_at'],
      [{ name: 'x', preset: 'apps', expires_at: '2027-13-01T00:00:00Z' }, '/expires_at'],
      [{ name: 'x', preset: 'apps', expires_at: 'tomorrow' }, '/expires_at'],
      [{ name: 'x', preset: 'apps', full: true }, '/full'],
    ] as const) {
      const { status, json, text } = await mint(body)
      assert.equal([status, json.errors?.[0]?.pointer], [400, pointer], text)
    }
    const longer = await call(platform.baseUrl, platform.owner, 'POST', `/api/auth/tokens/${token.id}/rotate`, {
      grace_seconds: 86_401,
    })
    assert.equal([longer.status, longer.json.errors[0].pointer], [400, '/grace_seconds'])
  })

  t('lets a revocation through the API act on the next call, and a rotation too', async () => {
    const { id, secret } = await minter.token('demo')
    const look = async (token: string) => (await call(platform.baseUrl, token, 'GET', '/api/invoices')).status
    assert.is(await look(secret), 200)
    const path = `/api/auth/tokens/${id}`
    const rotated = await call(platform.baseUrl, platform.owner, 'POST', `${path}/rotate`, { grace_seconds: 60 })
    assert.equal([await look(secret), await look(rotated.json.secret)], [200, 200])
    const again = await call(platform.baseUrl, platform.owner, 'POST', `${path}/rotate`)
    assert.equal([again.status, await look(rotated.json.secret)], [200, 401])
    assert.is((await call(platform.baseUrl, platform.owner, 'DELETE', path)).status, 204)
    assert.is(await look(again.json.secret), 401)
    assert.is((await call(platform.baseUrl, platform.owner, 'DELETE', path)).status, 404)
  })
})
