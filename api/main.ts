/** The API's process: reads its configuration, wires the clients, listens. It holds no state and any number may run. */
import { makeBlobs } from '../controllers/runtime/blobs.ts'
import { API, EnvError, readEnv } from '../controllers/runtime/env.ts'
import { makeAppendFact } from '../controllers/runtime/facts.ts'
import { makeIssuers } from '../controllers/runtime/issuers.ts'
import { makeKeys } from '../controllers/runtime/keys.ts'
import { makeKube } from '../controllers/runtime/kube.ts'
import { makeLedgerReader } from '../controllers/runtime/ledger.ts'
import { makeLog } from '../controllers/runtime/log.ts'
import { makeMetrics } from '../controllers/runtime/metrics.ts'
import { makeMirrorReader } from '../controllers/runtime/mirror.ts'
import { makeOps } from '../controllers/runtime/ops.ts'
import { makePg } from '../controllers/runtime/pg.ts'
import { installStop } from '../controllers/runtime/stop.ts'
import { VERSION } from '../controllers/runtime/version.ts'
import { makeAuthenticate } from './auth.ts'
import type { Deps } from './deps.ts'
import { makePipeline } from './pipeline.ts'
import { makeServer } from './server.ts'
import { allRoutes } from './system.ts'
import { makeWaiter } from './wait.ts'
import { makeWrongCounter } from './wrong.ts'

const main = async () => {
  const env = readEnv(API, process.env)
  const log = makeLog({ level: env.logLevel, base: { process: 'api' } })
  const stop = installStop({ log })
  const metrics = makeMetrics({ version: VERSION, process: 'api' })
  const requests = metrics.histogram({
    name: 'bottega_http_request_duration_seconds',
    help: 'Answered requests, by route.',
    labelNames: ['method', 'route', 'code'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
  })

  const pg = makePg({
    url: env.databaseUrl,
    applicationName: 'bottega-api',
    onConnectionError: (err) => log.warn({ err }, 'database connection lost'),
  })
  const kube = makeKube({
    ...(env.kubeconfig !== undefined && { kubeconfig: env.kubeconfig }),
    fieldManager: 'bottega-api',
    onRequest: metrics.request,
  })
  const mirror = makeMirrorReader({ pg })
  const waiter = await makeWaiter({ pg, mirror })
  const now = () => new Date()
  const nowMs = () => performance.now()
  const deps: Deps = {
    kube,
    ledger: makeLedgerReader({ pg }),
    appendFact: makeAppendFact({ pg, epoch: null }),
    mirror,
    blobs: makeBlobs({ pg }),
    issuers: makeIssuers({ pg }),
    waiter,
    keys: makeKeys(env.secretKey),
    authenticate: makeAuthenticate({ pg, mirror, serverKey: env.secretKey, nowMs }),
    wrong: makeWrongCounter(nowMs),
    namespace: env.namespace,
    publicUrl: env.publicUrl,
    now,
  }
  const server = makeServer({
    routes: allRoutes,
    deps,
    pipeline: makePipeline(deps, allRoutes),
    log,
    observe: ({ method, route, status, durationMs }) =>
      requests.observe({ method, route, code: String(status) }, durationMs / 1000),
  })
  const ops = await makeOps({ listen: env.metricsListen, metrics, log, checks: { database: () => pg.ready() } })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(env.listen.port, env.listen.host, resolve)
  })
  log.info({ listen: env.listen }, 'listening')

  stop.add('readiness', () => ops.leave())
  stop.add('server', async () => {
    server.closeIdleConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  stop.add('waiter', () => waiter.close())
  stop.add('kube', () => kube.close())
  stop.add('database', () => pg.close())
  stop.add('ops', () => ops.stop())
}

main().catch((error) => {
  console.error(error instanceof EnvError ? error.message : error)
  process.exit(error instanceof EnvError ? 2 : 1)
})
