/** The controllers' process: reads its configuration, wires the clients, waits for the lease, leads. */
import { hostname } from 'node:os'
import { LEASE_NAME } from '../crds/kernel/platform.ts'
import { CONTROLLERS, EnvError, readProcessEnv } from './base/env.ts'
import { StaleEpoch } from './base/errors.ts'
import { judgeBusy, makeComposeJudge } from './base/judging/judge.ts'
import { makeLog } from './base/log.ts'
import { cardsOf } from './base/providers.ts'
import { installStop } from './base/stop.ts'
import { VERSION } from './base/version.ts'
import { makeCardProcessor } from './io/cards.ts'
import { makeMailer } from './io/mail.ts'
import { makeRenderer, RENDERER_LIMITS } from './io/pdf/renderer.ts'
import type { Caches } from './kinds/held.ts'
import { makeEvents } from './kube/events.ts'
import { makeIdentity } from './kube/identity.ts'
import { makeKube } from './kube/kube.ts'
import { runLeader } from './leader.ts'
import { makeEgress } from './net/egress.ts'
import { makeCaches, type OperatorDeps } from './operator.ts'
import { makeMetrics } from './ops/metrics.ts'
import { makeOps } from './ops/port.ts'
import { makeQuarantineMetrics } from './ops/quarantine.ts'
import { makeProcessStandings, type Standings } from './ops/standings.ts'
import { makeTenantMetrics, openTenants } from './ops/tenants.ts'
import { type LeaderState, makeAhead, metersOf, type Process, sealedNote, takingOf, watchTruths } from './process.ts'
import { readKeptRoots } from './runtime/keptroots.ts'
import { openDevClock, readDatabaseClock } from './store/clock.ts'
import { demandDevelopment } from './store/installation/installation.ts'
import { openKeys } from './store/installation/open.ts'
import { KeyUnknown } from './store/installation/ringkeys.ts'
import { makeOutbox } from './store/ledger/outbox.ts'
import { makeQuarantineCounts } from './store/ledger/quarantine.ts'
import { type AroundQuery, makePg } from './store/pg/pg.ts'
import { makeBacklog, makeDeliveries } from './store/webhook/deliveries.ts'
import { startClockGuard } from './workers/clock-guard.ts'
import { startMailSender } from './workers/mail-sender.ts'
import { startPaymentWorker } from './workers/payment-worker.ts'
import { makeWebhookMetrics } from './workers/webhook-metrics.ts'
import { startWebhookSender } from './workers/webhook-sender.ts'

/** What a pass has not ended by then is cut, and done again by whoever leads next. */
const DRAIN_MS = 7_000
/** With the mail and the calls that are under way. */
const OPERATOR_STOP_MS = 15_000
/** With what is asked of the API server just now. */
const RELEASE_MS = 5_000
/**
 * Where the clock can be moved a jump must not end the lease of a mail that is under way, or it went out twice. Whoever leads
 * after us takes what we held in any case.
 */
const MOVED_LEASE_MS = 100 * 365 * 86_400_000

/** Of a kind, on the port: all others are served meanwhile. */
const UNSERVED = { note: 'KIND_UNKNOWN: it has no definition; apply the definitions, and it is picked up' }

const BEHIND_NEXT = 'They are neither numbered nor mailed; put back the newest copy of the database'

/** Everything outside that this process talks to. */
const makeClients = async ({ env, log, stop, metrics, meters, standing }: Process, development: readonly string[]) => {
  // Somebody leads after us: nothing that this process still does may count.
  const around: AroundQuery = (_call, run) =>
    run().catch((error) => {
      if (error instanceof StaleEpoch) stop.abandon('another process leads')
      throw error
    })
  const pg = makePg({
    url: env.databaseUrl,
    applicationName: 'bottega-controllers',
    around,
    onConnectionError: (err) => log.warn({ err }, 'database connection lost'),
  })
  await demandDevelopment(pg, development)
  await pg.assertDurable()
  const outside = makeKube({
    ...(env.kubeconfig !== undefined && { kubeconfig: env.kubeconfig }),
    fieldManager: 'bottega-controllers',
    onRequest: metrics.request,
  })
  const bound = { home: env.namespace, bound: env.tenants }
  const tenants = await openTenants({ pg, kube: outside, tenants: bound, serves: true })
  makeTenantMetrics(metrics, tenants)
  const { kube } = tenants
  const lease = { namespace: env.home ?? env.namespace, name: LEASE_NAME }
  const opened = await openKeys({
    ...{ pg, secretKeys: env.secretKeys, makes: true, kept: () => readKeptRoots(kube, lease) },
    onError: (err) => log.warn({ err }, 'the roots were not read again'),
  })
  const onMove = async () => {
    await standing.operator?.lookAtAll()
    return standing.operator !== undefined
  }
  const onFailed = (err: unknown) => log.warn({ err }, 'not all that fell due by the moved clock was looked at')
  const clock = startClockGuard({
    readDatabase: () => readDatabaseClock(pg),
    log,
    onSkew: (seconds) => meters.skew.set(seconds),
    onRefused: (isRefused) => meters.refused.set(isRefused ? 1 : 0),
  })
  const devClock = env.devClock === 'on' ? await openDevClock({ pg, onMove, onFailed, wall: clock.earlier }) : undefined
  const now = devClock?.now ?? (() => new Date(clock.earlier()))
  const cardSettings = cardsOf(env)
  return {
    pg,
    kube,
    outside,
    tenants,
    mailer: makeMailer({ url: env.smtpUrl, from: env.mailFrom, pool: env.mailLanes }),
    keys: opened.keys,
    opened,
    devClock,
    clock,
    now,
    /** Of what goes out: when it is due was written by any process. */
    sendersNow: () => new Date(now().getTime() + clock.shared() - clock.earlier()),
    composeJudge: makeComposeJudge(judgeBusy),
    pdf: makeRenderer({ ...RENDERER_LIMITS, threads: env.pdfRender === 'on' ? env.pdfThreads : 0 }),
    cards: cardSettings && makeCardProcessor(cardSettings),
    egress: makeEgress({ allowLoopback: env.egressAllowLoopback === 'true' }),
  }
}
type Clients = Awaited<ReturnType<typeof makeClients>>

/** Who performs what the passes queue, under their epoch. */
const sendersOf = (
  { env, log, metrics, meters }: Process,
  clients: Clients,
): Pick<OperatorDeps, 'mailSender' | 'webhookSender' | 'paymentWorker'> => {
  const { pg, keys, mailer, egress, cards, devClock, clock, sendersNow: now } = clients
  const onDelivery = makeWebhookMetrics(metrics, makeBacklog({ pg, now }))
  makeQuarantineMetrics(metrics, makeQuarantineCounts({ pg, now }))
  const outboxOf = (epoch: number) => makeOutbox({ pg, epoch: () => epoch, now, mayRetry: clock.isTrusted })
  return {
    mailSender: (epoch, hooks) =>
      startMailSender({
        ...hooks,
        outbox: outboxOf(epoch),
        mailer,
        keys,
        publicUrl: env.publicUrl,
        lanes: env.mailLanes,
        ...(devClock && { leaseMs: MOVED_LEASE_MS }),
        now,
        log,
        onAttempt: (outcome) => meters.mails.inc({ outcome }),
      }),
    webhookSender: (epoch, hooks) =>
      startWebhookSender({
        ...hooks,
        deliveries: makeDeliveries({ pg, sealer: keys.sealer('webhook-secret'), epoch: () => epoch, now }),
        mayRepeat: clock.isTrusted,
        egress,
        now,
        log,
        onAttempt: onDelivery,
      }),
    paymentWorker:
      cards &&
      ((epoch, hooks) =>
        startPaymentWorker({
          ...hooks,
          outbox: outboxOf(epoch),
          processor: cards,
          now,
          wall: () => new Date(clock.shared()),
          log,
          onAttempt: (outcome) => meters.calls.inc({ outcome }),
        })),
  }
}

/** What the operator is given. @param host names this process in Events */
const operatorDepsOf = (process: Process, clients: Clients, host: string): OperatorDeps => {
  const { env, log, metrics, meters, standing } = process
  const { kube, outside, tenants, pg, pdf, composeJudge, cards, keys, egress, now, clock } = clients
  return {
    ...{ kube, outside, pg, pdf, composeJudge, cards, keys, egress, now },
    ...{ livesIn: tenants.livesIn, strays: tenants.strays, unserved: tenants.unserved },
    isClockTrusted: clock.isTrusted,
    ...sendersOf(process, clients),
    retentionDays: env.retentionDays,
    allowLoopback: env.egressAllowLoopback === 'true',
    nameServers: env.nameServers,
    namespace: env.namespace,
    home: env.home,
    publicUrl: env.publicUrl,
    mailDomain: /@([^>\s]+)/.exec(env.mailFrom)?.[1] ?? hostname(),
    log,
    metrics,
    heads: {
      everyMs: env.historyHeadMinutes * 60_000,
      onHead: meters.head,
      onRewritten: () => meters.rewritten.set(1),
    },
    onLost: () => standing.truths?.doubt(),
    onReconnected: () => standing.truths?.doubt(),
    onSealed: (counts, newest) => {
      standing.sealed = { counts, newest }
      meters.sealed.reset()
      for (const [key, count] of counts) meters.sealed.set({ key }, count)
    },
    onRunEnded: (cause, state) => meters.runs.inc({ cause, state }),
    onBackupEnded: (kind, state) => meters.backups.inc({ kind, state }),
    onVisits: (host, visits) => meters.visits.inc({ host }, visits),
    onHostAhead: makeAhead(process, clients),
    onBehind: (count) => {
      standing.behind = count
      meters.behind.set(count)
    },
    events: makeEvents({
      kube,
      reporter: 'bottega-controllers',
      instance: host,
      log,
      onDropped: metrics.eventsDropped,
    }),
  }
}

const openPort = (
  { env, log, metrics, standing }: Process,
  { pg, clock }: Clients,
  caches: Caches,
  standings: Standings,
) =>
  makeOps({
    listen: env.metricsListen,
    metrics,
    log,
    checks: {
      database: () => pg.ready(),
      cluster: () => standing.truths?.detail() ?? true,
      clock: () => clock.detail() ?? true,
      keys: () => standing.sealed === undefined || sealedNote(standing.sealed),
      ledger: () =>
        standing.behind === 0 ||
        `LEDGER_BEHIND: ${standing.behind} invoices know of more than the database. ${BEHIND_NEXT}`,
      ...standings.checks,
      ...Object.fromEntries(
        [...caches.byKind].map(([kind, cache]) => [kind, () => (cache.isServed() ? cache.isSynced() : UNSERVED)]),
      ),
    },
  })

const main = async () => {
  const { env, development } = readProcessEnv(CONTROLLERS, process.env)
  const log = makeLog({ level: env.logLevel, base: { process: 'controllers' } })
  const stop = installStop({ log })
  const metrics = makeMetrics({ version: VERSION, process: 'controllers' })
  const standing: LeaderState = { behind: 0 }
  const own: Process = { env, log, stop, metrics, meters: metersOf(metrics), standing }
  const clients = await makeClients(own, development)
  const host = env.identity ?? hostname()
  const deps = operatorDepsOf(own, clients, host)
  const caches = makeCaches(deps)
  const { kube, pg } = clients
  const standings = makeProcessStandings({ pg, kube, log })
  const ops = await openPort(own, clients, caches, standings)
  const truths = watchTruths(own, deps, caches)
  standing.truths = truths
  const identity = makeIdentity({ host, podUid: env.podUid })
  const onEpoch = (epoch: number) => {
    own.meters.epoch.set(epoch)
    clients.devClock?.dealAgain()
  }
  const taking = takingOf(own, deps)
  const leader = runLeader({
    ...{ deps, caches, truths, standings, taking, identity, standing, onEpoch },
    stopping: stop.signal,
  })

  stop.add('readiness', () => ops.leave())
  stop.add('truths', () => truths.stop())
  stop.add('standings', () => standings.stop())
  stop.add('roots', () => clients.opened.stop())
  stop.add('clock guard', () => clients.clock.stop())
  stop.add('operator', (leftMs) => leader.stopOperator(Math.min(leftMs, DRAIN_MS)), OPERATOR_STOP_MS)
  stop.add('lease', () => leader.release(), RELEASE_MS)
  stop.add('caches', () => caches.stop())
  stop.add('mailer', () => clients.mailer.close())
  stop.add('egress', () => clients.egress.close())
  stop.add('kube', () => clients.kube.close())
  stop.add('clock', () => clients.devClock?.close())
  stop.add('renderer', () => clients.pdf.close())
  stop.add('compose judge', () => clients.composeJudge.close())
  stop.add('database', () => clients.pg.close())
  stop.add('ops', () => ops.stop())
}

main().catch((error) => {
  const isSaid = error instanceof EnvError || error instanceof KeyUnknown
  console.error(isSaid ? error.message : error)
  process.exit(isSaid ? 2 : 1)
})
