import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeAuth } from '../../../../api/auth/auth.ts'
import { newToken } from '../../../../api/auth/tokens.ts'
import { makePipeline } from '../../../../api/http/pipeline.ts'
import { makeServer } from '../../../../api/http/server.ts'
import type { Route } from '../../../../api/wiring/route.ts'
import { type Keys, keysOfOne } from '../../../../controllers/base/keys.ts'
import { makeLog } from '../../../../controllers/base/log.ts'
import { makeMetrics } from '../../../../controllers/ops/metrics.ts'
import type { Pg } from '../../../../controllers/store/pg/pg.ts'
import { BENCH_KEY, makeStageParts } from '../stages.ts'
import type { Side } from './load.ts'

/**
 * The sides of the HTTP bench, each a process of its own: `bare` is node:http with the same body, `ours` the real server
 * with every stage. A side listens, says where on its first line, and ends with its standard input.
 */

const PATH = '/api/bench/inv-0123456789abcdef'
const ID = PATH.slice(PATH.lastIndexOf('/') + 1)
/** An answer of the size of a short invoice. */
const bodyOf = (id: string | undefined) => ({
  id,
  number: 'INV-026-0001',
  status: 'sent',
  client_name: 'ACME',
  client_email: 'billing@acme.test',
  currency: 'EUR',
  due_date: '2027-12-20',
  items: [{ description: 'October retainer', qty: 1.5, unit_cents: 80_000, tax_rate_bp: 2000, amount_cents: 120_000 }],
  subtotal_cents: 120_000,
  tax_cents: 24_000,
  total_cents: 144_000,
  balance_cents: 144_000,
})

const say = (side: Omit<Side, 'port'>, server: ReturnType<typeof createServer>): void => {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    console.log(JSON.stringify({ ...side, port } satisfies Side))
  })
  process.stdin.resume().on('end', () => process.exit(0))
}

const bare = (): void => {
  const server = createServer((_request, response) => {
    const text = JSON.stringify(bodyOf(ID))
    const length = Buffer.byteLength(text)
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': length }).end(text)
  })
  say({ path: PATH, token: newToken().token }, server)
}

const route: Route<unknown> = {
  method: 'GET',
  path: '/api/bench/:id',
  summary: 'Read a thing',
  scope: { kind: 'scope', scope: 'invoices:read' },
  query: { expand: { type: 'string' } },
  answers: {},
  codes: [],
  handle: async (_deps, { params }) => ({ status: 200, body: bodyOf(params.id) }),
}

/** A database that knows one token, so that looking it up again every ten seconds is all that is left out. */
const databaseOf = ({ id, secret }: { id: string; secret: string }, { tokenHash }: Pick<Keys, 'tokenHash'>): Pg => {
  const row = {
    ...{ id, account: 'demo', secretHash: tokenHash(secret), previousHash: null, scopes: ['invoices:read'] },
    ...{
      isRevoked: false,
      leftMs: null,
      previousLeftMs: null,
      profile: { email: 'owner@demo.test', capabilities: [] },
    },
  }
  return { query: async () => ({ rows: [row] }) } as unknown as Pg
}

const ours = (): void => {
  const made = newToken()
  const keys = keysOfOne(BENCH_KEY)
  const pg = databaseOf(made, keys)
  const auth = makeAuth({ pg, keys, nowMs: () => performance.now() })
  const deps = { ...makeStageParts({ pg, keys }), authenticate: auth.authenticate }
  const metrics = makeMetrics({ version: '0.0.0', process: 'api' })
  const requests = metrics.histogram({
    name: 'bottega_http_request_duration_seconds',
    help: 'Answered requests, by route.',
    labelNames: ['method', 'route', 'code'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
  })
  const server = makeServer({
    routes: [route],
    deps,
    pipeline: makePipeline(deps, [route]),
    log: makeLog({ level: 'error' }),
    observe: ({ method, route, status, durationMs }) =>
      requests.observe({ method, route, code: String(status) }, durationMs / 1000),
  })
  say({ path: PATH, token: made.token }, server)
}

const side = process.argv[2]
if (import.meta.main) {
  if (side === 'bare') bare()
  else if (side === 'ours') ours()
  else throw new Error('Usage: sides.ts bare | ours')
}
