/** The API's process: reads its configuration, wires the clients, listens. It holds no state and any number may run. */

import type { Server } from 'node:http'
import { API, checkoutOriginOf, EnvError, LIMITS, llmOf, oidcOf, readEnv } from '../controllers/base/env.ts'
import { makeKeys } from '../controllers/base/keys.ts'
import { type Log, makeLog } from '../controllers/base/log.ts'
import { installStop } from '../controllers/base/stop.ts'
import { VERSION } from '../controllers/base/version.ts'
import { makeKube } from '../controllers/kube/kube.ts'
import { clusterUidOf } from '../controllers/kube/witness.ts'
import { makeEgress } from '../controllers/net/egress.ts'
import { makeMetrics } from '../controllers/ops/metrics.ts'
import { makeOps } from '../controllers/ops/port.ts'
import { makeAccounts } from '../controllers/store/account/accounts.ts'
import { makeAppStore } from '../controllers/store/app/app.ts'
import { makeAppVault } from '../controllers/store/app/releases.ts'
import { makeAppendAudit, makeAuditReader } from '../controllers/store/audit.ts'
import { makeBlobs } from '../controllers/store/blobs.ts'
import { openDevClock } from '../controllers/store/clock.ts'
import { makeDevInstances } from '../controllers/store/devinstances.ts'
import { makeCredentials, makeHostReader } from '../controllers/store/hosts.ts'
import { makeInstallation } from '../controllers/store/installation.ts'
import { makeAllowance } from '../controllers/store/invoice/ai-quota.ts'
import { makeBooks } from '../controllers/store/invoice/books.ts'
import { makeDocuments } from '../controllers/store/invoice/documents.ts'
import { makeIssuers } from '../controllers/store/invoice/issuers.ts'
import { makeSendQuota } from '../controllers/store/invoice/send-quota.ts'
import { makeAppendFact } from '../controllers/store/ledger/facts.ts'
import { makeLedgerReader } from '../controllers/store/ledger/ledger.ts'
import { makeMirrorReader, makeShowRow } from '../controllers/store/mirror.ts'
import { makePg, type Pg } from '../controllers/store/pg/pg.ts'
import { mayAlterTables } from '../controllers/store/pg/roles.ts'
import { makeKeyBook } from '../controllers/store/request/idempotency.ts'
import { makeOperationStore } from '../controllers/store/request/operations.ts'
import { makeSiteReservations } from '../controllers/store/site/sites.ts'
import { makeEndpoints } from '../controllers/store/webhook/endpoints.ts'
import { makeAttempts } from './auth/attempts.ts'
import { makeAuth } from './auth/auth.ts'
import { makeReportAuth } from './auth/report.ts'
import { startFirstAdmin } from './auth/signin/first-admin.ts'
import { makeOidc } from './auth/signin/oidc.ts'
import { makeReadSession, makeSessionCaller, makeSessions } from './auth/signin/session.ts'
import { makeSignIn } from './auth/signin/signin.ts'
import { makeTokenStore } from './auth/token-store.ts'
import { makeTokenUse } from './auth/token-use.ts'
import { makeHashSecret } from './auth/tokens.ts'
import { makeFollow } from './command/follow.ts'
import { makeOwnDoor } from './command/own.ts'
import { makeWaiter } from './command/wait.ts'
import { makeWake } from './command/wake.ts'
import { makeVault } from './devinstance/vault.ts'
import { devClockRoutes } from './http/dev-clock.ts'
import { DRAIN_LIMIT_MS, drainServer } from './http/drain.ts'
import { makePipeline } from './http/pipeline.ts'
import { makeServer } from './http/server.ts'
import { makeAudit } from './http/stages/audit.ts'
import { makeClusterGuard } from './http/stages/cluster.ts'
import { makeIdempotency } from './http/stages/idempotency.ts'
import { makeLimits } from './http/stages/limits.ts'
import { makeCardEvents } from './io/cardevents.ts'
import { makeLlm } from './io/llm.ts'
import { makePdfText } from './io/pdftext.ts'
import type { Deps } from './wiring/deps.ts'
import { allRoutes } from './wiring/routes.ts'

/** With so many requests under way one is slowed by the others anyway: waiting a moment, they share commits. */
const CROWD = { from: 6, gatherMs: 25 }

const PART_SLACK_MS = 1_000

const leave = async (server: Server, log: Log): Promise<void> => {
  if (!(await drainServer(server))) log.warn('requests that were not answered in time were cut')
}

/** It serves all the same: what guards the ledger then is this program alone. */
const warnOfOwner = async (pg: Pg, log: Log): Promise<void> => {
  const next = 'give BOTTEGA_DATABASE_URL the role that the migration made from BOTTEGA_API_DATABASE_URL'
  if (await mayAlterTables(pg)) log.warn({ next }, 'the database role of the api may alter tables')
}

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
  await warnOfOwner(pg, log).catch((err) => log.warn({ err }, 'the rights of the database role are not known'))
  const devClock = env.devClock === 'on' ? await openDevClock({ pg }) : undefined
  const now = devClock?.now ?? (() => new Date())
  const nowMs = () => performance.now()
  const hash = makeHashSecret(env.secretKey)
  const use = makeTokenUse({ pg, nowMs, onError: (err) => log.warn({ err }, 'last use of tokens not written') })
  const keys = makeKeys(env.secretKey)
  const own = makeOwnDoor({ mirror, waiter })
  const given = { pg, kube, keys, waiter, serverKey: env.secretKey, namespace: env.namespace, publicUrl: env.publicUrl }
  const sessions = makeSessions({ ...given, now, nowMs })
  const sessionCaller = makeSessionCaller({ sessions, mirror, nowMs })
  const readSession = makeReadSession(sessionCaller)
  const provider = oidcOf(env)
  const model = llmOf(env)
  const llm = model && makeLlm(model, { log })
  const auth = makeAuth({ pg, hash, nowMs, onUse: use.note, readSession })
  waiter.subscribe(auth.forget)
  waiter.subscribe(sessionCaller.forget)
  const limits = makeLimits(readEnv(LIMITS, process.env))
  const gatherMs = () => (limits.underWay() >= CROWD.from ? CROWD.gatherMs : 0)
  const audit = makeAudit({ append: makeAppendAudit({ pg, gatherMs }), log })
  const blobs = makeBlobs({ pg })
  const apps = makeAppStore({ pg, sealer: keys.sealer('app-env') })
  const cluster = makeClusterGuard({
    installation: makeInstallation({ pg }),
    clusterUid: () => clusterUidOf(kube),
    log,
  })
  const deps: Deps = {
    kube,
    cluster,
    ledger: makeLedgerReader({ pg }),
    appendFact: makeAppendFact({ pg, epoch: null }),
    show: makeShowRow({ pg }),
    ...own,
    blobs,
    documents: makeDocuments({ pg }),
    issuers: makeIssuers({ pg }),
    books: makeBooks({ pg }),
    hosts: makeHostReader({ pg }),
    credentials: makeCredentials({ pg, serverKey: env.secretKey }),
    endpoints: makeEndpoints({ pg, sealer: keys.sealer('webhook-secret') }),
    egress: makeEgress({ allowLoopback: env.egressAllowLoopback === 'true' }),
    allowLoopback: env.egressAllowLoopback === 'true',
    wake: makeWake({ kube, namespace: env.namespace, now }),
    keys,
    authenticate: auth.authenticate,
    authenticateReport: makeReportAuth({ pg, hash }),
    hash,
    tokens: makeTokenStore({ pg, hash, beforeLook: use.flush }),
    sessions,
    signIn: makeSignIn({ ...given, ...own, now, signUp: env.signUp }),
    oidc: provider && makeOidc(provider, { ...given, now, log }),
    attempts: makeAttempts({ pg }),
    accounts: makeAccounts({ pg }),
    sendQuota: makeSendQuota({ pg, gatherMs }),
    allowance: makeAllowance({ pg }),
    llm,
    pdfText: makePdfText(),
    cards:
      env.stripeWebhookSecret === undefined
        ? null
        : { read: makeCardEvents(env.stripeWebhookSecret), checkoutOrigin: checkoutOriginOf(env.stripeApiBase) },
    devInstances: makeDevInstances({ pg }),
    vault: makeVault(env.secretKey),
    apps,
    releases: makeAppVault({ pg, blobs, source: apps.source, sealer: keys.sealer('app-release') }),
    limits,
    idempotency: makeIdempotency({ book: makeKeyBook({ pg, now }), serverKey: env.secretKey }),
    operations: makeOperationStore({ pg, sealer: keys.sealer('operation') }),
    follow: makeFollow({ onError: (err) => log.warn({ err }, 'verdict not kept') }),
    audit,
    auditReader: makeAuditReader({ pg }),
    sites: makeSiteReservations({ pg }),
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
    isLeaving: () => stop.signal.aborted,
  })
  await cluster.looked
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
  stop.add('verdicts', () => waiter.leave())
  stop.add('server', () => leave(server, log), DRAIN_LIMIT_MS + PART_SLACK_MS)
  stop.add('cluster', () => cluster.stop())
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
