/**
 * Every route that names a thing of an account, called by everybody who might want it: what is another's is not there, byte for
 * byte, and nothing is written. The cells follow from allRoutes; a new route is attacked as soon as it is there, and wants a
 * body here that would be taken.
 */
import { randomUUID } from 'node:crypto'
import { SCOPE_NAMES } from '../../../api/auth/scopes.ts'
import { newReportToken, newToken } from '../../../api/auth/tokens.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, type Minter, makeMinter } from '../../support/stage/callers.ts'
import {
  call,
  eventually,
  type Json,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'
import { bodyTo, makeThings, pathTo, type Things } from '../../support/stage/victim.ts'

const VICTIM = 'demo'
const ATTACKER = 'other'
const CAPABILITIES = ['app.deploy', 'devbox.manage']

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const isPublic = ({ scope }: Route) => scope.kind === 'public'
/** What a reviewer or an administrator is let in to is theirs to see. */
const owned = allRoutes.filter(
  (route) => !isPublic(route) && route.role === undefined && /:(id|operationId)\b/.test(route.path),
)
const lists = allRoutes.filter(
  (route) => !isPublic(route) && route.role === undefined && route.method === 'GET' && !route.path.includes(':'),
)
const closed = allRoutes.filter((route) => !isPublic(route))

const isPage = ({ path }: Route) => !path.startsWith('/api/')
/** As for nobody: a page leads to the way in. */
const isShut = (route: Route, { status }: Reply) => status === 401 || (isPage(route) && status === 303)

/** Another of the same length. */
const likeIt = (id: string): string =>
  id.slice(0, -1) + (/\d$/.test(id) ? (Number(id.at(-1)) + 1) % 10 : id.endsWith('z') ? 'y' : 'z')

/** A counter stands in any text. */
const isTelling = (id: string): boolean => id.length > 4

/** An answer without what is another in each, and in terms of what was asked for. */
const seenOf = ({ status, headers, text }: Reply, names: readonly string[]) => {
  const OWN = /^(date|(x-)?request-id|ratelimit.*|retry-after|connection|keep-alive|etag)$/
  const plainly = (told: string) => names.filter(isTelling).reduce((so, name) => so.replaceAll(name, 'ID'), told)
  const kept = [...headers].flatMap(([name, value]) => (OWN.test(name) ? [] : [[name, plainly(value)]])).sort()
  return JSON.stringify({
    status,
    kept,
    text: plainly(text).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'REQUEST'),
  })
}

spec('attackers', (t) => {
  let platform: Platform
  let minter: Minter
  /** Of the victim, by what paths call them. */
  const things: Things = {}
  const attackers: Record<string, string> = {}
  let dead: Record<string, string> = {}
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  const ask = (by: string | null, method: string, path: string, body?: unknown) =>
    call(platform.baseUrl, by, method, path, body, { prefer: 'respond-async' })
  /** An account that was deleted and made again: what opened it before. */
  const makeDead = async (): Promise<void> => {
    const token = await addAccount(platform, 'former', { capabilities: CAPABILITIES })
    const scoped = (await minter.token('former', { scopes: SCOPE_NAMES })).secret
    const session = await minter.session('former')
    await platform.kubectl(['delete', 'acct', 'former'])
    await addAccount(platform, 'former', { capabilities: CAPABILITIES })
    dead = { token, scoped, session }
    for (const one of Object.values(dead))
      await eventually('its end', async () => (await ask(one, 'GET', '/api/account')).status === 401)
  }

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000', BOTTEGA_WRONG_PER_MINUTE: '100000' } })
    minter = makeMinter(platform)
    for (const name of [VICTIM, ATTACKER]) {
      const change = JSON.stringify({ spec: { capabilities: CAPABILITIES } })
      await platform.kubectl(['patch', 'acct', name, '--type=merge', '-p', change])
    }
    Object.assign(things, await makeThings(platform, minter))
    await makeDead()
    Object.assign(attackers, {
      'a token with every scope of another account': (await minter.token(ATTACKER, { scopes: SCOPE_NAMES })).secret,
      'full access of another account': await platform.token(ATTACKER),
      'a session of another account': await minter.session(ATTACKER),
    })
  })
  t.after(async () => {
    await minter.end()
    await platform.end()
  })

  /** Rows of every table, but for what a caller leaves in its own name, and what goes by the clock. */
  const OWN_TRACES = [
    'audit',
    'audit_heads',
    'idempotency',
    'attempts',
    'tokens',
    'sessions',
    'session_keys',
    'operations',
  ]
  const written = async (): Promise<Record<string, string>> => {
    const tables = await sql(`select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname = 'public' order by 1`)
    const digests = await Promise.all(
      tables
        .filter(({ name }) => !OWN_TRACES.includes(String(name)))
        .map(async ({ name }) => {
          const text = `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as is from "${name}" t`
          return [String(name), String((await sql(text))[0]?.is)]
        }),
    )
    const [own] = await sql(
      `select (select count(*) from audit where account = $1) as audit, (select count(*) from operations where account = $1)
        as operations, (select count(*) from tokens where account = $1 and revoked_at is null and rotated_at is null) as tokens`,
      [VICTIM],
    )
    return { ...Object.fromEntries(digests), ...(own as Record<string, string>) }
  }
  const cluster = async (): Promise<string[]> => {
    const { items } = JSON.parse(await platform.kubectl(['get', 'bottega', '-o', 'json']))
    return items.map(({ kind, metadata, spec: asked }: Json) =>
      JSON.stringify([
        kind,
        metadata.name,
        metadata.annotations,
        metadata.finalizers,
        metadata.deletionTimestamp,
        asked,
      ]),
    )
  }

  const cell = async (route: Route, credential: string | null): Promise<string | undefined> => {
    const unknown = Object.fromEntries(Object.entries(things).map(([name, id]) => [name, likeIt(id)]))
    const [real, none] = [
      await ask(credential, route.method, pathTo(route, things), bodyTo(route)),
      await ask(credential, route.method, pathTo(route, unknown), bodyTo(route)),
    ]
    const isRefused = real.status === 404 ? isPage(route) || real.json.code === 'NOT_FOUND' : real.status === 403
    if (!isRefused) return `${real.status} ${real.text.slice(0, 200)}`
    const [of, other] = [seenOf(real, Object.values(things)), seenOf(none, Object.values(unknown))]
    return of === other ? undefined : `tells that it is there: ${of} / ${other}`
  }

  /** A page is for sessions; a report token opens its own route and nothing else. */
  const isTried = ({ scope }: Route, isSession: boolean) =>
    scope.kind !== 'report' && (scope.kind !== 'session' || isSession)
  const faults = async (): Promise<string[]> => {
    const wrong: string[] = []
    let cells = 0
    for (const [who, credential] of Object.entries(attackers)) {
      for (const route of owned.filter((one) => isTried(one, who.startsWith('a session')))) {
        const fault = await cell(route, credential)
        cells += 1
        if (fault) wrong.push(`${nameOf(route)} × ${who}: ${fault}`)
      }
    }
    console.log(`\ncounted: ${cells} cells, each beside a name that nobody has`)
    return wrong
  }

  t('see nothing of another account in a list', async () => {
    const secrets = [...Object.values(things).filter(isTelling), 'secret-order', 'secret-box', 'Secret site']
    for (const route of lists) {
      for (const [who, credential] of Object.entries(attackers)) {
        const { text } = await ask(credential, 'GET', route.path)
        const shown = secrets.filter((secret) => text.includes(secret))
        assert.equal(shown, [], `${nameOf(route)} × ${who}`)
      }
    }
  })

  t('open with a link nothing but what it is a link to', async () => {
    const by = attackers['full access of another account'] ?? ''
    const made = await call(platform.baseUrl, by, 'POST', '/api/invoices', order())
    const site = await call(platform.baseUrl, by, 'POST', '/api/website/generate', {
      content: { meta: { company_name: 'Mallory' } },
    })
    assert.equal([made.status, site.status], [201, 201], made.text + site.text)
    const tokenIn = (url: string): [start: string, token: string] => {
      const [, start = '', token = ''] = new URL(url).pathname.split('/')
      return [`/${start}/`, token]
    }
    const links = [tokenIn(made.json.url), tokenIn(site.json.site.preview_url)]
    const opened = allRoutes.filter((route) => isPublic(route) && route.path.includes(':token'))
    for (const route of opened) {
      for (const [start, token] of links.filter(([one]) => !route.path.startsWith(one))) {
        const forged = `${token.slice(0, 4)}${token[4] === 'A' ? 'B' : 'A'}${token.slice(5)}`
        const at = (link: string) =>
          pathTo(route, { ...things, token: link, number: 'CN-1', path: '', layout: 'classic', template: 'studio' })
        const [crossed, unknown] = [token, forged].map((link) => ask(null, route.method, at(link), bodyTo(route)))
        const [real, none] = [await crossed, await unknown]
        assert.ok(real && none && real.status >= 400, `${nameOf(route)} with a link to ${start}: ${real?.status}`)
        assert.is(seenOf(real, [token]), seenOf(none, [forged]), nameOf(route))
      }
    }
  })

  /** One of each sort, which its owner ends by a call that answers with another. */
  const linksToEnd = async () => {
    const sure = async (path: string, body: unknown = {}) => {
      const reply = await call(platform.baseUrl, platform.owner, 'POST', path, body)
      assert.ok(reply.status < 300, `${path}: ${reply.status} ${reply.text}`)
      return reply.json
    }
    const tokenOf = (url: string): string => new URL(url).pathname.split('/')[2] ?? ''
    const made = await sure('/api/invoices', order())
    const { site } = await sure('/api/website/generate', { content: { meta: { company_name: 'Ended' } } })
    const { site: submitted } = await sure(`/api/website/${site.id}/submit-review`)
    return [
      { start: '/i/', url: made.url, rotate: `/api/invoices/${made.invoice.id}/link/rotate` },
      { start: '/preview/', url: site.preview_url, rotate: `/api/website/${site.id}/preview/rotate` },
      { start: '/review/', url: submitted.review.url, rotate: `/api/website/${site.id}/review/rotate` },
    ].map(({ start, url, rotate }) => ({
      start,
      token: tokenOf(url),
      end: async () => tokenOf((await sure(rotate, { reason: 'attacked' })).url),
    }))
  }

  t('open nothing with a link that was ended, as if it had never been made', async () => {
    await addAccount(platform, 'reader', { role: 'reviewer' })
    const reviewer = await minter.session('reader')
    const callers = [null, platform.owner, reviewer, attackers['full access of another account'] ?? '']
    const at = (route: Route, token: string) =>
      pathTo(route, { ...things, token, number: 'CN-1', path: '', layout: 'classic', template: 'studio' })
    const tried = (route: Route, credential: string | null, token: string) =>
      ask(credential, route.method, at(route, token), bodyTo(route))
    for (const { start, token, end } of await linksToEnd()) {
      const routes = allRoutes.filter(({ path }) => path.startsWith(`${start}:token`))
      const [entry] = routes.filter(({ method, path }) => method === 'GET' && path === `${start}:token`)
      assert.ok(entry)
      assert.ok((await tried(entry, reviewer, token)).status < 400, `${start} led there`)
      const fresh = await end()
      assert.ok((await tried(entry, reviewer, fresh)).status < 400, `${start} leads there again`)
      const never = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
      // the number alone makes no good link of one that was ended
      const raised = fresh.replace(/\.[^.]*$/, token.slice(token.lastIndexOf('.')))
      const cells = routes.flatMap((route) => callers.map((credential) => ({ route, credential })))
      for (const { route, credential } of cells) {
        const none = seenOf(await tried(route, credential, never), [never])
        for (const dead of [token, raised]) {
          const real = await tried(route, credential, dead)
          assert.ok(real.status >= 303, `${nameOf(route)}: ${real.status}`)
          assert.is(seenOf(real, [dead]), none, nameOf(route))
        }
      }
    }
  })

  t(
    'find nothing of another account, cannot tell that it is there, and write nothing',
    async () => {
      await platform.controllers.stop()
      const before = { rows: await written(), objects: await cluster() }
      const wrong = await faults()
      assert.equal(wrong, [])
      assert.equal(await cluster(), before.objects)
      assert.equal(await written(), before.rows)
      // the owner finds each of them, and the count sees what he writes
      for (const path of [
        `/api/invoices/${things.invoice}`,
        `/api/invoices/issuers/${things.issuer}`,
        `/api/webhooks/${things.hook}`,
        `/api/website/${things.site}`,
        `/api/devboxes/${things.devbox}`,
        `/api/apps/${things.app}`,
        `/api/apps/hosts/${things.host}`,
        `/api/apps/operations/${things.operationId}`,
        `/api/operations/${things.operation}`,
      ])
        assert.is((await ask(platform.owner, 'GET', path)).status, 200, path)
      const changed = await ask(platform.owner, 'PATCH', `/api/invoices/issuers/${things.issuer}`, {
        footer: 'changed',
      })
      assert.is(changed.status, 200, changed.text)
      assert.not.equal(await written(), before.rows)
    },
    { timeoutMs: 300_000 },
  )

  t('open nothing with what a deleted account left, as if it had never been', async () => {
    const never = { token: newToken().token, session: `${dead.session?.slice(0, -4)}AAAA` }
    for (const route of closed) {
      const path = route.path.replace(/\{.*\}$/, '').replace(/:\w+/g, 'unknown')
      for (const [kind, credential] of Object.entries(dead)) {
        const reply = await ask(credential, route.method, path, bodyTo(route))
        assert.ok(
          isShut(route, reply),
          `${nameOf(route)} × ${kind} of before: ${reply.status} ${reply.text.slice(0, 100)}`,
        )
        if (kind === 'session') continue
        const unknown = await ask(never.token, route.method, path, bodyTo(route))
        assert.is(seenOf(reply, []), seenOf(unknown, []), nameOf(route))
      }
    }
  })

  t('open nothing but their own report with a report token', async () => {
    const { tokenHash: hash } = platform.keys
    const [mine, victim] = [`dev-${randomUUID()}`, things.devbox ?? '']
    const own = newReportToken(platform.keys, mine)
    await sql(
      `insert into devboxes (resource, account, name, committed_micro_usd, pricing_version, box, reserved_at, token_hash)
       values ($1, $2, $1, 1, '1', '{}', now(), $3)`,
      [mine, ATTACKER, hash(own.secret)],
    )
    const victims = newReportToken(platform.keys, victim)
    await sql('update devboxes set token_hash = $2 where resource = $1', [victim, hash(victims.secret)])
    const reports = (id: string) => {
      const route = closed.find(({ scope }) => scope.kind === 'report')
      if (route === undefined) throw new Error('a machine reports')
      return ask(own.token, route.method, route.path.replace(':id', id), bodyTo(route))
    }
    const [foreign, unknown] = [await reports(victim), await reports(likeIt(victim))]
    assert.equal([foreign.status, foreign.json.code], [403, 'FORBIDDEN'], foreign.text)
    assert.is(seenOf(foreign, [victim]), seenOf(unknown, [likeIt(victim)]))
    const others = closed.filter(({ scope }) => scope.kind !== 'report')
    for (const route of others) {
      const path = pathTo(route, { ...things, capability: 'app.deploy', id: 'unknown' })
      for (const { token } of [own, victims]) {
        const reply = await ask(token, route.method, path, bodyTo(route))
        assert.ok(isShut(route, reply), `${nameOf(route)}: ${reply.status} ${reply.text.slice(0, 100)}`)
      }
    }
  })
})
