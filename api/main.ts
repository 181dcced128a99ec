/** The API's process: reads its configuration, wires the clients, listens. It holds no state and any number may run. */

import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { API, type Env, EnvError, LIMITS, readEnv, readProcessEnv } from '../controllers/base/env.ts'
import { makeDraftJudge } from '../controllers/base/judging/draft.ts'
import { makeComposeJudge } from '../controllers/base/judging/judge.ts'
import { makeVariantRenderer } from '../controllers/base/judging/variants.ts'
import { type Log, makeLog } from '../controllers/base/log.ts'
import { checkoutOriginOf, llmOf, oidcOf } from '../controllers/base/providers.ts'
import { installStop, type Stop } from '../controllers/base/stop.ts'
import { VERSION } from '../controllers/base/version.ts'
import { makeKube } from '../controllers/kube/kube.ts'
import { clusterUidOf } from '../controllers/kube/witness.ts'
import { makeEgress } from '../controllers/net/egress.ts'
import { type Metrics, makeMetrics } from '../controllers/ops/metrics.ts'
import { makeOps, type Ops } from '../controllers/ops/port.ts'
import { makeProcessStandings } from '../controllers/ops/standings.ts'
import { openTenants } from '../controllers/ops/tenants.ts'
import { makeAppendAudit } from '../controllers/store/audit.ts'
import { openDevClock } from '../controllers/store/clock.ts'
import { demandDevelopment, makeInstallation } from '../controllers/store/installation/installation.ts'
import { openKeys } from '../controllers/store/installation/open.ts'
import { KeyUnknown } from '../controllers/store/installation/ringkeys.ts'
import { makeRing } from '../controllers/store/ledger/wakes.ts'
import { makeMirrorReader } from '../controllers/store/mirror.ts'
import { makePg, type Pg } from '../controllers/store/pg/pg.ts'
import { mayAlterTables } from '../controllers/store/pg/roles.ts'
import { makeKeyBook } from '../controllers/store/request/idempotency.ts'
import { makeOperationStore } from '../controllers/store/request/operations.ts'
import { makeUploadReader } from './app/sources/reading/reader.ts'
import { makeAuth } from './auth/auth.ts'
import { makeReportAuth } from './auth/report.ts'
import { startFirstAdmin } from './auth/signin/first-admin.ts'
import { makeOidc } from './auth/signin/oidc.ts'
import { makeReadSession, makeSessionCaller, makeSessions } from './auth/signin/session.ts'
import { makeSignIn } from './auth/signin/signin.ts'
import { makeTokenStore } from './auth/token-store.ts'
import { makeTokenUse } from './auth/token-use.ts'
import { makeFollow } from './command/follow.ts'
import { makeOwnDoor } from './command/own.ts'
import { makeWaiter } from './command/wait.ts'
import { makeWake } from './command/wake.ts'
import { aroundWrites, countingWrites } from './command/written.ts'
import { devClockRoutes } from './http/dev-clock.ts'
import { DRAIN_LIMIT_MS, drainServer } from './http/drain.ts'
import { makePipeline } from './http/pipeline.ts'
import { tooMany } from './http/problem.ts'
import { makeServer } from './http/server.ts'
import { makeAudit } from './http/stages/audit.ts'
import { type ClusterGuard, makeClusterGuard } from './http/stages/cluster.ts'
import { makeIdempotency } from './http/stages/idempotency.ts'
import { makeLimits } from './http/stages/limits.ts'
import { makeWrongStage } from './http/stages/wrong.ts'
import { useChecks } from './http/validate.ts'
import { makeCardEvents } from './io/cardevents.ts'
import { makeLlm } from './io/llm.ts'
import { makePdfText } from './io/pdftext.ts'
import { makeOutcomeOf } from './wiring/commands.ts'
import type { Deps } from './wiring/deps.ts'
import { allRoutes } from './wiring/routes.ts'
import { makeStores } from './wiring/stores.ts'

/** With so many requests under way one is slowed by the others anyway: waiting a moment, they share commits. */
const CROWD = { from: 6, gatherMs: 15 }

const PART_SLACK_MS = 1_000
/** Requests come first: the 1,300 uses take some seven seconds so. */
const FIRST_USE_EVERY_MS = 5
/** As long as a few files take to be judged. */
const JUDGE_RETRY_MS = 1_000

const leave = async (server: Server, log: Log): Promise<void> => {
  if (!(await drainServer(server))) log.warn('requests that were not answered in time were cut')
}

/** It serves all the same: what guards the ledger then is this program alone. */
const warnOfOwner = async (pg: Pg, log: Log): Promise<void> => {
  const next = 'give BOTTEGA_DATABASE_URL the role that the migration made from BOTTEGA_API_DATABASE_URL'
  if (await mayAlterTables(pg)) log.warn({ next }, 'the database role of the api may alter tables')
}

const noteOf = (cluster: ClusterGuard): string | null => {
  const wrong = cluster.disagreement()
  return wrong && `${wrong.code}: ${wrong.detail}`
}

type ApiEnv = Env<typeof API>

/** Connections, and what rests on one of them alone. */
const openClients = async (env: ApiEnv, development: readonly string[], log: Log, metrics: Metrics) => {
  const pg = makePg({
    url: env.databaseUrl,
    applicationName: 'bottega-api',
    around: aroundWrites,
    onConnectionError: (err) => log.warn({ err }, 'database connection lost'),
  })
  await demandDevelopment(pg, development)
  const outside = makeKube({
    ...(env.kubeconfig !== undefined && { kubeconfig: env.kubeconfig }),
    fieldManager: 'bottega-api',
    onRequest: metrics.request,
  })
  const tenants = { home: env.namespace, bound: env.tenants }
  const kube = countingWrites((await openTenants({ pg, kube: outside, tenants, serves: false })).kube)
  const mirror = makeMirrorReader({ pg })
  const waiter = await makeWaiter({ pg, mirror })
  await warnOfOwner(pg, log).catch((err) => log.warn({ err }, 'the rights of the database role are not known'))
  const devClock = env.devClock === 'on' ? await openDevClock({ pg }) : undefined
  const now = devClock?.now ?? (() => new Date())
  const onError = (err: unknown) => log.warn({ err }, 'the roots were not read again')
  const opened = await openKeys({ pg, secretKeys: env.secretKeys, makes: false, onError })
  return { pg, kube, mirror, waiter, devClock, now, opened, keys: opened.keys, nowMs: () => performance.now() }
}
type Clients = Awaited<ReturnType<typeof openClients>>

/** Parts that have an end, or that several handlers share. */
const makeParts = (env: ApiEnv, log: Log, clients: Clients) => {
  const { pg, kube, mirror, waiter, keys, now, nowMs } = clients
  const settings = readEnv(LIMITS, process.env)
  const limits = makeLimits(settings)
  const gatherMs = () => (limits.underWay() >= CROWD.from ? CROWD.gatherMs : 0)
  const stores = makeStores({ pg, keys, gatherMs })
  const use = makeTokenUse({ pg, nowMs, onError: (err) => log.warn({ err }, 'last use of tokens not written') })
  const given = { pg, kube, keys, waiter, namespace: env.namespace, publicUrl: env.publicUrl }
  const sessions = makeSessions({ ...given, now, nowMs, idleMs: env.sessionIdleMinutes * 60_000 })
  const sessionCaller = makeSessionCaller({ sessions, mirror, nowMs })
  const model = llmOf(env)
  const auth = makeAuth({
    pg,
    keys,
    nowMs,
    onUse: use.note,
    readSession: makeReadSession(sessionCaller, env.publicUrl),
  })
  waiter.subscribe(auth.forget)
  waiter.subscribe(sessionCaller.forget)
  const audit = makeAudit({ append: makeAppendAudit({ pg, gatherMs }), log })
  const cluster = makeClusterGuard({
    installation: makeInstallation({ pg }),
    clusterUid: () => clusterUidOf(kube),
    own: { namespace: env.namespace, keyCheck: keys.installation },
    log,
  })
  const llm = model && makeLlm(model, { log })
  const standings = makeProcessStandings({ pg, kube, log })
  const limitWrong = makeWrongStage({ ...settings, ...auth })
  const draftJudge = makeDraftJudge(() => tooMany('Drafts wait to be judged.', JUDGE_RETRY_MS))
  const composeJudge = makeComposeJudge(() => tooMany('Compose files wait to be judged.', JUDGE_RETRY_MS))
  const variants = makeVariantRenderer(() => tooMany('Variants of sites wait to be rendered.', JUDGE_RETRY_MS))
  const judges = { composeJudge, draftJudge, variants, uploadReader: makeUploadReader() }
  return { judges, limitWrong, stores, use, keys, given, sessions, llm, auth, limits, audit, cluster, standings }
}
type Parts = ReturnType<typeof makeParts>

const depsOf = (env: ApiEnv, log: Log, clients: Clients, parts: Parts): Deps => {
  const { pg, kube, mirror, waiter, now } = clients
  const { judges, stores, use, keys, given, sessions, llm, auth, limits, audit, cluster } = parts
  const provider = oidcOf(env)
  const own = makeOwnDoor({ mirror, waiter })
  return {
    ...stores,
    kube,
    cluster,
    ...own,
    egress: makeEgress({ allowLoopback: env.egressAllowLoopback === 'true' }),
    allowLoopback: env.egressAllowLoopback === 'true',
    wake: makeWake({ kube, namespace: env.namespace, now, ring: makeRing({ pg }) }),
    keys,
    authenticate: auth.authenticate,
    limitWrong: parts.limitWrong,
    authenticateReport: makeReportAuth({ pg, keys }),
    tokens: makeTokenStore({ pg, keys, beforeLook: use.flush }),
    sessions,
    signIn: makeSignIn({ ...given, ...own, now, signUp: env.signUp }),
    oidc: provider && makeOidc(provider, { ...given, now, log }),
    llm,
    pdfText: makePdfText(),
    ...judges,
    cards:
      env.stripeWebhookSecret === undefined
        ? null
        : { read: makeCardEvents(env.stripeWebhookSecret), checkoutOrigin: checkoutOriginOf(env.stripeApiBase) },
    limits,
    idempotency: makeIdempotency({ book: makeKeyBook({ pg, now }), keys }),
    operations: makeOperationStore({ pg, sealer: keys.sealer('operation') }),
    follow: makeFollow({ onError: (err) => log.warn({ err }, 'verdict not kept') }),
    audit,
    pdfOff: env.pdfRender === 'off',
    namespace: env.namespace,
    publicUrl: env.publicUrl,
    now,
  }
}

type Running = { server: Server; ops: Ops; leaving: AbortController }

/** In this order: readiness, intake, work, what is to be written down of it, connections. A request that hangs takes nothing from the rest. */
const addStops = (
  stop: Stop,
  log: Log,
  { pg, kube, waiter, devClock, opened }: Clients,
  { llm, judges, cluster, standings, use, audit }: Parts,
  { server, ops, leaving }: Running,
): void => {
  stop.add('what goes on beside', () => leaving.abort())
  stop.add('readiness', () => ops.leave())
  // begun at once, and waited for further below: clients are answered meanwhile
  stop.add('what was done so far', () => void Promise.all([use.flush(), audit.flush()]))
  stop.add('language model', () => llm?.leave())
  stop.add('verdicts', () => waiter.leave())
  stop.add('server', () => leave(server, log), DRAIN_LIMIT_MS + PART_SLACK_MS)
  stop.add('judges', () => Promise.all(Object.values(judges).map((judge) => judge.close())).then(() => undefined))
  stop.add('standings', () => standings.stop())
  stop.add('token use', () => use.close())
  stop.add('audit', () => audit.close())
  stop.add('cluster', () => cluster.stop())
  stop.add('waiter', () => waiter.close())
  stop.add('roots', () => opened.stop())
  stop.add('kube', () => kube.close())
  stop.add('clock', () => devClock?.close())
  stop.add('database', () => pg.close())
  stop.add('ops', () => ops.stop())
}

const main = async () => {
  const { env, development } = readProcessEnv(API, process.env)
  const log = makeLog({ level: env.logLevel, base: { process: 'api' } })
  const stop = installStop({ log })
  const metrics = makeMetrics({ version: VERSION, process: 'api' })
  const requests = metrics.histogram({
    name: 'bottega_http_request_duration_seconds',
    help: 'Answered requests, by route.',
    labelNames: ['method', 'route', 'code'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
  })

  const clients = await openClients(env, development, log, metrics)
  const { pg, kube, devClock } = clients
  const parts = makeParts(env, log, clients)
  const { cluster } = parts
  const deps = depsOf(env, log, clients, parts)
  const routes = [...allRoutes, ...(devClock ? devClockRoutes(devClock) : [])]
  const server = makeServer({
    routes,
    deps,
    pipeline: makePipeline({ ...deps, outcomeOf: makeOutcomeOf(deps) }, routes),
    log,
    observe: ({ method, route, status, durationMs }) =>
      requests.observe({ method, route, code: String(status) }, durationMs / 1000),
    isLeaving: () => stop.signal.aborted,
  })
  await cluster.looked
  const { standings } = parts
  const checks = { database: () => pg.ready(), ...standings.checks }
  const ops = await makeOps({
    listen: env.metricsListen,
    metrics,
    log,
    checks,
    // it reads on, so it is ready
    notes: { writes: () => noteOf(cluster) },
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(env.listen.port, env.listen.host, resolve)
  })
  log.info({ listen: env.listen }, 'listening')

  const leaving = new AbortController()
  useChecks(() => sleep(FIRST_USE_EVERY_MS, undefined, { signal: leaving.signal, ref: false })).catch((err) => {
    if (!leaving.signal.aborted) log.warn({ err }, 'the checks of bodies were not tried')
  })
  const { adminEmail } = env
  if (adminEmail !== undefined) {
    startFirstAdmin({ kube, namespace: env.namespace, email: adminEmail }, log, leaving.signal)
  }

  addStops(stop, log, clients, parts, { server, ops, leaving })
}

main().catch((error) => {
  const isSaid = error instanceof EnvError || error instanceof KeyUnknown
  console.error(isSaid ? error.message : error)
  process.exit(isSaid ? 2 : 1)
})
