/** The controllers' process: reads its configuration, wires the clients, waits for the lease, leads. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { LEASE_NAME } from '../crds/kernel/platform.ts'
import { CONTROLLERS, cardsOf, type Env, EnvError, readEnv } from './base/env.ts'
import { StaleEpoch } from './base/errors.ts'
import { makeKeys } from './base/keys.ts'
import { type Log, makeLog } from './base/log.ts'
import { installStop, type Stop } from './base/stop.ts'
import { VERSION } from './base/version.ts'
import { makeCardProcessor } from './io/cards.ts'
import { makeMailer } from './io/mail.ts'
import { makeRenderer, RENDERER_LIMITS } from './io/pdf/renderer.ts'
import type { Caches } from './kinds/held.ts'
import { makeEvents } from './kube/events.ts'
import { makeKube } from './kube/kube.ts'
import { runLease } from './kube/lease.ts'
import { makeEgress } from './net/egress.ts'
import { makeCaches, type Operator, type OperatorDeps, startOperator } from './operator.ts'
import { type Metrics, makeMetrics } from './ops/metrics.ts'
import { makeOps } from './ops/port.ts'
import { takeNextEpoch } from './runtime/epoch.ts'
import { openDevClock } from './store/clock.ts'
import { makeInstallation } from './store/installation.ts'
import { makeDeletionReader } from './store/ledger/desires.ts'
import { makeOutbox } from './store/ledger/outbox.ts'
import { makeMirror } from './store/mirror.ts'
import { type AroundQuery, makePg } from './store/pg/pg.ts'
import { makeBacklog, makeDeliveries } from './store/webhook/deliveries.ts'
import { startMailSender } from './workers/mail-sender.ts'
import { startPaymentWorker } from './workers/payment-worker.ts'
import { makeTruths, type Truths } from './workers/truths.ts'
import { makeWebhookMetrics } from './workers/webhook-metrics.ts'
import { startWebhookSender } from './workers/webhook-sender.ts'

const DRAIN_MS = 15_000
/** With the mail and the calls that are under way. */
const OPERATOR_STOP_MS = 20_000
/**
 * Where the clock can be moved a jump must not end the lease of a mail that is under way, or it went out twice. Whoever leads
 * after us takes what we held in any case.
 */
const MOVED_LEASE_MS = 100 * 365 * 86_400_000

const BEHIND_NEXT = 'They are neither numbered nor mailed; put back the newest copy of the database'

const metersOf = (metrics: Metrics) => ({
  mails: metrics.counter({
    name: 'bottega_mail_attempts_total',
    help: 'Attempts to send a mail, by how they ended.',
    labelNames: ['outcome'],
  }),
  calls: metrics.counter({
    name: 'bottega_card_attempts_total',
    help: 'Calls of the card processor, by how they ended.',
    labelNames: ['outcome'],
  }),
  epoch: metrics.gauge({
    name: 'bottega_epoch',
    help: 'The epoch under which this process leads; 0 while it does not.',
  }),
  unknown: metrics.gauge({
    name: 'bottega_cluster_unknown',
    help: '1 while the cluster is not the one of the database, or lacks much of what is known: nobody leads.',
  }),
  behind: metrics.gauge({
    name: 'bottega_ledger_behind',
    help: 'Resources that know of more than the database: an older copy of it was put back.',
  }),
})

/** What is known once somebody leads, or tried to. */
type Standing = { operator?: Operator; truths?: Truths; behind: number }

type Process = {
  env: Env<typeof CONTROLLERS>
  log: Log
  stop: Stop
  metrics: Metrics
  meters: ReturnType<typeof metersOf>
  standing: Standing
}

/** Everything outside that this process talks to. */
const makeClients = async ({ env, log, stop, metrics, standing }: Process) => {
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
  await pg.assertDurable()
  const kube = makeKube({
    ...(env.kubeconfig !== undefined && { kubeconfig: env.kubeconfig }),
    fieldManager: 'bottega-controllers',
    onRequest: metrics.request,
  })
  const onMove = async () => standing.operator?.lookAtAll()
  const devClock = env.devClock === 'on' ? await openDevClock({ pg, onMove }) : undefined
  const cardSettings = cardsOf(env)
  return {
    pg,
    kube,
    mailer: makeMailer({ url: env.smtpUrl, from: env.mailFrom, pool: env.mailLanes }),
    keys: makeKeys(env.secretKey),
    devClock,
    now: devClock?.now ?? (() => new Date()),
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
  const { pg, keys, mailer, egress, cards, devClock, now } = clients
  const onDelivery = makeWebhookMetrics(metrics, makeBacklog({ pg, now }))
  const outboxOf = (epoch: number) => makeOutbox({ pg, epoch: () => epoch, now })
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
          log,
          onAttempt: (outcome) => meters.calls.inc({ outcome }),
        })),
  }
}

/** What the operator is given. @param identity names this process in Events */
const operatorDepsOf = (process: Process, clients: Clients, identity: string): OperatorDeps => {
  const { env, log, metrics, meters, standing } = process
  const { kube, pg, pdf, cards, keys, egress, now } = clients
  return {
    ...{ kube, pg, pdf, cards, keys, egress, now },
    ...sendersOf(process, clients),
    serverKey: env.secretKey,
    retentionDays: env.retentionDays,
    allowLoopback: env.egressAllowLoopback === 'true',
    namespace: env.namespace,
    publicUrl: env.publicUrl,
    mailDomain: /@([^>\s]+)/.exec(env.mailFrom)?.[1] ?? hostname(),
    log,
    metrics,
    onLost: () => standing.truths?.doubt(),
    onBehind: (count) => {
      standing.behind = count
      meters.behind.set(count)
    },
    events: makeEvents({
      kube,
      reporter: 'bottega-controllers',
      instance: identity,
      log,
      onDropped: metrics.eventsDropped,
    }),
  }
}

const openPort = ({ env, log, metrics, standing }: Process, { pg }: Clients, caches: Caches) =>
  makeOps({
    listen: env.metricsListen,
    metrics,
    log,
    checks: {
      database: () => pg.ready(),
      cluster: () => standing.truths?.detail() ?? true,
      ledger: () =>
        standing.behind === 0 ||
        `LEDGER_BEHIND: ${standing.behind} invoices know of more than the database. ${BEHIND_NEXT}`,
      ...Object.fromEntries([...caches.byKind].map(([kind, cache]) => [kind, () => cache.isSynced()])),
    },
  })

/** Whether database and cluster belong together, asked again and again; nobody leads while they do not. */
const watchTruths = ({ env, metrics, meters, standing }: Process, deps: OperatorDeps, caches: Caches): Truths =>
  makeTruths({
    ...deps,
    caches,
    installation: makeInstallation({ pg: deps.pg }),
    // only asked: nothing is written before there is an epoch
    mirror: makeMirror({ pg: deps.pg, epoch: () => 0 }),
    deletions: makeDeletionReader(deps),
    accept: env.acceptCluster,
    onUnknown: (isUnknown) => {
      meters.unknown.set(isUnknown ? 1 : 0)
      // Who holds the lease and does not begin leads nobody.
      if (!standing.operator) metrics.leader(LEASE_NAME, !isUnknown)
    },
  })

type Leading = { deps: OperatorDeps; caches: Caches; truths: Truths; identity: string }

/** Waits for the lease, and leads from then on until somebody takes the epoch. */
const leadOnce = ({ env, log, metrics, meters, standing }: Process, { deps, caches, truths, identity }: Leading) => {
  const { kube, pg } = deps
  const ref = { namespace: env.namespace, name: LEASE_NAME }
  return runLease({
    kube,
    ...ref,
    identity,
    onLead: async (signal) => {
      if (standing.operator) return
      await truths.agree(signal)
      const { epoch, behind } = await takeNextEpoch({ kube, pg, ref, holder: `${identity}/${randomUUID()}` })
      if (behind > 0)
        log.warn({ epoch, epochs: behind }, 'the database is older than the Lease: an older copy of it was put back')
      standing.operator = await startOperator(deps, caches, epoch)
      meters.epoch.set(epoch)
      log.info({ epoch }, 'started to lead')
    },
    // The lease says who should take the next epoch, and no more. Whoever takes it fences us: our next effect is refused
    // and this process ends (`around`). Until then there is nobody to make room for: the API server is away, not we.
    onLost: () => log.warn('the lease was lost; going on until somebody takes the epoch'),
    log,
    metrics,
  })
}

const main = async () => {
  const env = readEnv(CONTROLLERS, process.env)
  const log = makeLog({ level: env.logLevel, base: { process: 'controllers' } })
  const stop = installStop({ log })
  const metrics = makeMetrics({ version: VERSION, process: 'controllers' })
  const standing: Standing = { behind: 0 }
  const own: Process = { env, log, stop, metrics, meters: metersOf(metrics), standing }
  const clients = await makeClients(own)
  // A container that is started again has the same name, so it need not wait for its own lease to run out.
  const identity = env.identity ?? hostname()
  const deps = operatorDepsOf(own, clients, identity)
  const caches = makeCaches(deps)
  const ops = await openPort(own, clients, caches)
  const truths = watchTruths(own, deps, caches)
  standing.truths = truths
  const lease = leadOnce(own, { deps, caches, truths, identity })

  stop.add('readiness', () => ops.leave())
  stop.add('truths', () => truths.stop())
  stop.add('operator', (leftMs) => standing.operator?.stop(Math.min(leftMs, DRAIN_MS)), OPERATOR_STOP_MS)
  stop.add('lease', () => lease.stop())
  stop.add('caches', () => caches.stop())
  stop.add('mailer', () => clients.mailer.close())
  stop.add('egress', () => clients.egress.close())
  stop.add('kube', () => clients.kube.close())
  stop.add('clock', () => clients.devClock?.close())
  stop.add('renderer', () => clients.pdf.close())
  stop.add('database', () => clients.pg.close())
  stop.add('ops', () => ops.stop())
}

main().catch((error) => {
  console.error(error instanceof EnvError ? error.message : error)
  process.exit(error instanceof EnvError ? 2 : 1)
})
