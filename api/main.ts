/** The API's process: reads its configuration, wires the clients, listens. It holds no state and any number may run. */

import { makeAccounts } from '../controllers/runtime/accounts.ts'
import { makeAllowance } from '../controllers/runtime/allowance.ts'
import { makeAppStore } from '../controllers/runtime/appstore.ts'
import { makeAppVault } from '../controllers/runtime/appvault.ts'
import { makeAppendAudit, makeAuditReader } from '../controllers/runtime/audit.ts'
import { makeBlobs } from '../controllers/runtime/blobs.ts'
import { makeBooks } from '../controllers/runtime/books.ts'
import { makeCardEvents } from '../controllers/runtime/cardevents.ts'
import { openDevClock } from '../controllers/runtime/clock.ts'
import { makeDevboxes } from '../controllers/runtime/devboxes.ts'
import { makeDocuments } from '../controllers/runtime/documents.ts'
import { makeEgress } from '../controllers/runtime/egress.ts'
import { makeEndpoints } from '../controllers/runtime/endpoints.ts'
import { API, checkoutOriginOf, EnvError, LIMITS, llmOf, oidcOf, readEnv } from '../controllers/runtime/env.ts'
import { makeAppendFact } from '../controllers/runtime/facts.ts'
import { makeCredentials, makeHostReader } from '../controllers/runtime/hosts.ts'
import { makeKeyBook } from '../controllers/runtime/idempotency.ts'
import { makeIssuers } from '../controllers/runtime/issuers.ts'
import { makeKeys } from '../controllers/runtime/keys.ts'
import { makeKube } from '../controllers/runtime/kube.ts'
import { makeLedgerReader } from '../controllers/runtime/ledger.ts'
import { makeLlm } from '../controllers/runtime/llm.ts'
import { makeLog } from '../controllers/runtime/log.ts'
import { makeMetrics } from '../controllers/runtime/metrics.ts'
import { makeMirrorReader } from '../controllers/runtime/mirror.ts'
import { makeOps } from '../controllers/runtime/ops.ts'
import { makePdfText } from '../controllers/runtime/pdftext.ts'
import { makePg } from '../controllers/runtime/pg.ts'
import { makeSitePlaces } from '../controllers/runtime/sites.ts'
import { makeSlots } from '../controllers/runtime/slots.ts'
import { installStop } from '../controllers/runtime/stop.ts'
import { VERSION } from '../controllers/runtime/version.ts'
import { makeAudit } from './audit.ts'
import { makeAttempts } from './auth/attempts.ts'
import { makeAuth } from './auth/auth.ts'
import { startFirstAdmin } from './auth/first-admin.ts'
import { makeOidc } from './auth/oidc.ts'
import { makeReportAuth } from './auth/report.ts'
import { makeReadSession, makeSessionCaller, makeSessions } from './auth/session.ts'
import { makeSignIn } from './auth/signin.ts'
import { makeTokenStore } from './auth/token-store.ts'
import { makeTokenUse } from './auth/token-use.ts'
import { makeHashSecret } from './auth/tokens.ts'
import type { Deps } from './deps.ts'
import { devClockRoutes } from './dev-clock.ts'
import { makeVault } from './devinstance/vault.ts'
import { makeIdempotency } from './idempotency.ts'
import { makeLimits } from './limits.ts'
import { makePipeline } from './pipeline.ts'
import { makeServer } from './server.ts'
import { allRoutes } from './system.ts'
import { makeWaiter } from './wait.ts'
import { makeWake } from './wake.ts'

/** With so many requests under way one is slowed by the others anyway: waiting a moment, they share commits. */
const CROWD = { from: 6, gatherMs: 25 }

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
  const devClock = env.devClock === 'on' ? await openDevClock({ pg }) : undefined
  const now = devClock?.now ?? (() => new Date())
  const nowMs = () => performance.now()
  const hash = makeHashSecret(env.secretKey)
  const use = makeTokenUse({ pg, nowMs, onError: (err) => log.warn({ err }, 'last use of tokens not written') })
  const keys = makeKeys(env.secretKey)
  const given = { pg, kube, keys, waiter, serverKey: env.secretKey, namespace: env.namespace, publicUrl: env.publicUrl }
  const sessions = makeSessions({ ...given, now, nowMs })
  const sessionCaller = makeSessionCaller({ sessions, mirror, nowMs })
  const readSession = makeReadSession(sessionCaller)
  const provider = oidcOf(env)
  const model = llmOf(env)
  const llm = model && makeLlm(model, { log })
  const auth = makeAuth({ pg, hash, nowMs, onUse: use.note, readSession })
  waiter.hear(auth.forget)
  waiter.hear(sessionCaller.forget)
  const limits = makeLimits(readEnv(LIMITS, process.env))
  const gatherMs = () => (limits.underWay() >= CROWD.from ? CROWD.gatherMs : 0)
  const audit = makeAudit({ append: makeAppendAudit({ pg, gatherMs }), log })
  const blobs = makeBlobs({ pg })
  const apps = makeAppStore({ pg, sealer: keys.sealer('app-env') })
  const deps: Deps = {
    kube,
    ledger: makeLedgerReader({ pg }),
    appendFact: makeAppendFact({ pg, epoch: null }),
    mirror,
    blobs,
    documents: makeDocuments({ pg }),
    issuers: makeIssuers({ pg }),
    books: makeBooks({ pg }),
    hosts: makeHostReader({ pg }),
    credentials: makeCredentials({ pg, serverKey: env.secretKey }),
    endpoints: makeEndpoints({ pg, sealer: keys.sealer('webhook-secret') }),
    egress: makeEgress({ allowLoopback: env.egressAllowLoopback === 'true' }),
    allowLoopback: env.egressAllowLoopback === 'true',
    waiter,
    wake: makeWake({ kube, namespace: env.namespace, now }),
    keys,
    authenticate: auth.authenticate,
    authenticateReport: makeReportAuth({ pg, hash }),
    hash,
    tokens: makeTokenStore({ pg, hash, beforeLook: use.flush }),
    sessions,
    signIn: makeSignIn({ ...given, now, signUp: env.signUp }),
    oidc: provider && makeOidc(provider, { ...given, now, log }),
    attempts: makeAttempts({ pg }),
    accounts: makeAccounts({ pg }),
    slots: makeSlots({ pg, gatherMs }),
    allowance: makeAllowance({ pg }),
    llm,
    pdfText: makePdfText(),
    cards:
      env.stripeWebhookSecret === undefined
        ? null
        : { read: makeCardEvents(env.stripeWebhookSecret), checkoutOrigin: checkoutOriginOf(env.stripeApiBase) },
    devboxes: makeDevboxes({ pg }),
    vault: makeVault(env.secretKey),
    apps,
    releases: makeAppVault({ pg, blobs, source: apps.source, sealer: keys.sealer('app-release') }),
    limits,
    idempotency: makeIdempotency({ book: makeKeyBook({ pg, now }), serverKey: env.secretKey }),
    audit,
    auditReader: makeAuditReader({ pg }),
    sites: makeSitePlaces({ pg }),
    pdfOff: env.pdfRender === 'off',
    namespace: env.namespace,
    publicUrl: env.publicUrl,
    now,
  }
  const routes = [...allRoutes, ...(devClock ? devClockRoutes(devClock) : [])]
  const server = makeServer({
    routes,
    deps,
    pipeline: makePipeline(deps, routes),
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

  const leaving = new AbortController()
  const { adminEmail } = env
  if (adminEmail !== undefined) {
    startFirstAdmin({ kube, namespace: env.namespace, email: adminEmail }, log, leaving.signal)
  }

  stop.add('first administrator', () => leaving.abort())
  stop.add('readiness', () => ops.leave())
  stop.add('language model', () => llm?.leave())
  stop.add('server', async () => {
    server.closeIdleConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  stop.add('token use', () => use.close())
  stop.add('audit', () => audit.close())
  stop.add('waiter', () => waiter.close())
  stop.add('kube', () => kube.close())
  stop.add('clock', () => devClock?.close())
  stop.add('database', () => pg.close())
  stop.add('ops', () => ops.stop())
}

main().catch((error) => {
  console.error(error instanceof EnvError ? error.message : error)
  process.exit(error instanceof EnvError ? 2 : 1)
})
