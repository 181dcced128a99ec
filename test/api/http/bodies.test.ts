import { once } from 'node:events'
import { request as ask, type ClientRequest, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Caller } from '../../../api/http/caller.ts'
import { makePipeline } from '../../../api/http/pipeline.ts'
import { DEPTH_MAX } from '../../../api/http/reading/json.ts'
import { BODY_MAX_BYTES, bodyTimeMs } from '../../../api/http/reading/take.ts'
import { makeServer } from '../../../api/http/server.ts'
import { LIMIT_DEFAULTS, makeLimits } from '../../../api/http/stages/limits.ts'
import type { Route } from '../../../api/wiring/route.ts'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { undocumented } from '../../support/judges/answers/contract.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/**
 * Every route that may be sent a body gets the bodies of an attacker who may call it: the answer is the documented refusal, and
 * no handler, audit or key ever hears of it. The rows follow from allRoutes; a new route is attacked as soon as it is there.
 */

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`
const takers = allRoutes.filter(({ method }) => method !== 'GET')
const capOf = ({ bodyMaxBytes = BODY_MAX_BYTES }: Route): number => bodyMaxBytes

/** May all that anybody may. */
const callerBy = (kind: Caller['by']['kind'], id: string): Caller =>
  ({
    ...{ account: 'hostile', by: { kind, id }, scopes: null },
    profile: { id: 'hostile', role: 'admin', capabilities: ['app.deploy', 'devbox.manage'] },
  }) as unknown as Caller

const ID = 'x'

/** The stages of production around handlers that only tell that they were reached. */
const openServer = async (timeMs: (maxBytes: number) => number) => {
  const reached: string[] = []
  const routes = allRoutes.map((route) => ({
    ...route,
    handle: async () => {
      reached.push(nameOf(route))
      return { status: 204 }
    },
  })) as unknown as Route<unknown>[]
  /** What is kept of a request that got so far. */
  const keeps = (what: string): never =>
    new Proxy({} as never, {
      get: () => () => {
        reached.push(what)
        throw new Error(what)
      },
    })
  const limits = makeLimits({
    ...LIMIT_DEFAULTS,
    ...{ ratePerSecond: 100_000, pagesPerMinute: 100_000, signinsPerMinute: 100_000 },
  })
  const pipeline = makePipeline(
    {
      ...{ limits, limitWrong: (_exchange, next) => next(), publicUrl: 'http://here.test', now: () => new Date() },
      authenticate: async ({ authorization }) => callerBy(authorization === 'session' ? 'session' : 'token', ID),
      authenticateReport: async () => callerBy('report', ID),
      keys: keeps('keys'),
      idempotency: keeps('idempotency'),
      audit: keeps('audit'),
      outcomeOf: async () => null,
    },
    routes,
  )
  const server = makeServer({
    routes,
    deps: { publicUrl: 'http://here.test' },
    pipeline,
    log: { error: (at: { err?: unknown }) => reached.push(String(at.err)) } as never,
    observe: () => undefined,
    bodyTimeMs: timeMs,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, reached, limits }
}

type Attack = { headers?: Record<string, string | number>; send(asked: ClientRequest): void }
type Told = { status: number; code: string | undefined; wrong: string | null }

const pathOf = ({ path }: Route): string => path.replace(/\{.*\}$/, ID).replace(/:\w+/g, ID)

const attack = async (server: Server, route: Route, { headers = {}, send }: Attack): Promise<Told> => {
  const { port } = server.address() as AddressInfo
  const { method, scope } = route
  const type = 'application/json'
  const authorization = scope.kind === 'session' ? 'session' : 'token'
  const asked = ask({
    ...{ port, host: '127.0.0.1', path: pathOf(route), method, agent: false },
    headers: { 'content-type': type, accept: type, authorization, ...headers },
  })
  asked.on('error', () => undefined) // whoever is refused may be cut off while he sends
  send(asked)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  await Promise.race([once(response, 'end'), once(response, 'close')])
  asked.destroy()
  const status = response.statusCode ?? 0
  const contentType = response.headers['content-type'] ?? ''
  const json = contentType.includes('json') ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : null
  return { status, code: json?.code, wrong: undocumented(method, pathOf(route), { status, contentType, json }) }
}

/** @returns what was answered otherwise */
const faults = async (server: Server, routes: readonly Route[], code: string, of: (route: Route) => Attack) => {
  const wrong: string[] = []
  for (const route of routes) {
    const told = await attack(server, route, of(route))
    const status = { BODY_TOO_LARGE: 413, MALFORMED_JSON: 400, REQUEST_TIMEOUT: 408 }[code]
    // a page says it in words
    const isSaid = told.status === status && (told.code ?? code) === code
    if (!isSaid || told.wrong !== null)
      wrong.push(`${nameOf(route)}: ${told.status} ${told.code}${told.wrong === null ? '' : `, ${told.wrong}`}`)
  }
  console.log(`\ncounted: ${routes.length} routes, ${code}`)
  return wrong
}

const whole = (bytes: Buffer, headers: Attack['headers'] = {}): Attack => ({
  headers: { 'content-length': bytes.length, ...headers },
  send: (asked) => void asked.end(bytes),
})

spec('a hostile body', (t) => {
  let held: Awaited<ReturnType<typeof openServer>>
  /** What each route was granted. */
  const granted: number[] = []
  const quick = (maxBytes: number): number => {
    granted.push(maxBytes)
    return 20
  }
  const bombs = new Map<number, Buffer>()
  const bombBeyond = (cap: number): Buffer => {
    const bomb = bombs.get(cap) ?? gzipSync(Buffer.alloc(cap + 1, ' '))
    bombs.set(cap, bomb)
    return bomb
  }
  t.before(async () => {
    held = await openServer(bodyTimeMs)
  })
  t.after(() => {
    held.server.closeAllConnections()
    held.server.close()
  })
  const isUntouched = () => {
    assert.equal(held.reached, [], 'nothing got beyond the look at its body')
    assert.is(held.limits.heldBytes(), 0)
    assert.is(held.limits.underWay(), 0)
  }

  t('that is good would be taken: each route is reached by what it asks for', async () => {
    const empty = takers.filter((route) => route.body === undefined)
    for (const route of empty) {
      const before = held.reached.length
      await attack(held.server, route, whole(Buffer.from('{}')))
      assert.ok(held.reached.length > before, nameOf(route))
    }
    held.reached.length = 0
  })

  t('that is deep is refused by every route that reads JSON, before anything is built of it', async () => {
    const deep = Buffer.from(`${'{"a":'.repeat(DEPTH_MAX + 1)}1${'}'.repeat(DEPTH_MAX + 1)}`)
    const readers = takers.filter((route) => route.body !== undefined)
    assert.ok(readers.length > 70)
    assert.equal(await faults(held.server, readers, 'MALFORMED_JSON', () => whole(deep)), [])
    isUntouched()
  })

  t('that is larger than its route takes is refused by every route before it is read', async () => {
    const said = (route: Route): Attack => ({
      headers: { 'content-length': capOf(route) + 1 },
      send: (asked) => void asked.write('x'),
    })
    assert.equal(await faults(held.server, takers, 'BODY_TOO_LARGE', said), [])
    isUntouched()
  })

  t('that does not say how large it is is refused by every route once it is too large', async () => {
    const most = 16_000_000
    const small = takers.filter((route) => capOf(route) <= most)
    const unsaid = (route: Route): Attack => ({
      headers: { 'transfer-encoding': 'chunked' },
      send: (asked) => void asked.end(Buffer.alloc(capOf(route) + 1, ' ')),
    })
    assert.equal(await faults(held.server, small, 'BODY_TOO_LARGE', unsaid), [])
    isUntouched()
  })

  t('that swells beyond what its route takes is refused by every route while it does', async () => {
    const packed = (route: Route) => whole(bombBeyond(capOf(route)), { 'content-encoding': 'gzip' })
    assert.equal(await faults(held.server, takers, 'BODY_TOO_LARGE', packed), [])
    isUntouched()
  })

  t('that never ends is cut by every route when its time is up, which is that of its size', async () => {
    const slow = await openServer(quick)
    const begun: Attack = { headers: { 'content-length': 10 }, send: (asked) => void asked.write('x') }
    try {
      assert.equal(await faults(slow.server, takers, 'REQUEST_TIMEOUT', () => begun), [])
      assert.equal(slow.reached, [])
      assert.equal(granted, takers.map(capOf))
      assert.is(slow.limits.heldBytes(), 0)
    } finally {
      slow.server.closeAllConnections()
      slow.server.close()
    }
  })
})
