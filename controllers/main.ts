/** The controllers' process: reads its configuration, wires the clients, waits for the lease, leads. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { LEASE_NAME } from '../crds/kernel/platform.ts'
import { CONTROLLERS, cardsOf, EnvError, readEnv } from './base/env.ts'
import { StaleEpoch } from './base/errors.ts'
import { makeKeys } from './base/keys.ts'
import { makeLog } from './base/log.ts'
import { installStop } from './base/stop.ts'
import { VERSION } from './base/version.ts'
import { makeCardProcessor } from './io/cards.ts'
import { makeMailer } from './io/mail.ts'
import { makeRenderer, RENDERER_LIMITS } from './io/pdf/renderer.ts'
import { makeEvents } from './kube/events.ts'
import { makeKube } from './kube/kube.ts'
import { runLease } from './kube/lease.ts'
import { makeEgress } from './net/egress.ts'
import { makeCaches, type Operator, type OperatorDeps, startOperator } from './operator.ts'
import { makeMetrics } from './ops/metrics.ts'
import { makeOps } from './ops/port.ts'
import { takeNextEpoch } from './runtime/epoch.ts'
import { openDevClock } from './store/clock.ts'
import { makeInstallation } from './store/installation.ts'
import { makeOutbox } from './store/ledger/outbox.ts'
import { makeMirror } from './store/mirror.ts'
import { type AroundQuery, makePg } from './store/pg/pg.ts'
import { makeBacklog, makeDeliveries } from './store/webhook/deliveries.ts'
import { type MailSenderHooks, startMailSender } from './workers/mail-sender.ts'
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

const main = async () => {
  const env = readEnv(CONTROLLERS, process.env)
  const log = makeLog({ level: env.logLevel, base: { process: 'controllers' } })
  const stop = installStop({ log })
  const metrics = makeMetrics({ version: VERSION, process: 'controllers' })
  const mails = metrics.counter({
    name: 'bottega_mail_attempts_total',
    help: 'Attempts to send a mail, by how they ended.',
    labelNames: ['outcome'],
  })
  const calls = metrics.counter({
    name: 'bottega_card_attempts_total',
    help: 'Calls of the card processor, by how they ended.',
    labelNames: ['outcome'],
  })
  const marks = {
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
  }
  let operator: Operator | undefined
  let truths: Truths | undefined
  let behind = 0
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
  const mailer = makeMailer({ url: env.smtpUrl, from: env.mailFrom, pool: env.mailLanes })
  const keys = makeKeys(env.secretKey)
  const devClock =
    env.devClock === 'on' ? await openDevClock({ pg, onMove: async () => operator?.lookAtAll() }) : undefined
  const now = devClock?.now ?? (() => new Date())
  // A container that is started again has the same name, so it need not wait for its own lease to run out.
  const identity = env.identity ?? hostname()
  const pdf = makeRenderer({ ...RENDERER_LIMITS, threads: env.pdfRender === 'on' ? env.pdfThreads : 0 })
  const cardSettings = cardsOf(env)
  const cards = cardSettings && makeCardProcessor(cardSettings)
  const allowLoopback = env.egressAllowLoopback === 'true'
  const egress = makeEgress({ allowLoopback })
  const onDelivery = makeWebhookMetrics(metrics, makeBacklog({ pg, now }))
  const deps: OperatorDeps = {
    kube,
    pg,
    pdf,
    cards,
    keys,
    serverKey: env.secretKey,
    retentionDays: env.retentionDays,
    egress,
    allowLoopback,
    namespace: env.namespace,
    publicUrl: env.publicUrl,
    mailDomain: /@([^>\s]+)/.exec(env.mailFrom)?.[1] ?? hostname(),
    log,
    now,
    metrics,
    onLost: () => truths?.doubt(),
    onBehind: (count) => {
      behind = count
      marks.behind.set(count)
    },
    events: makeEvents({
      kube,
      reporter: 'bottega-controllers',
      instance: identity,
      log,
      onDropped: metrics.eventsDropped,
    }),
    mailSender: (epoch: number, hooks: MailSenderHooks) =>
      startMailSender({
        ...hooks,
        outbox: makeOutbox({ pg, epoch: () => epoch, now }),
        mailer,
        keys,
        publicUrl: env.publicUrl,
        lanes: env.mailLanes,
        ...(devClock && { leaseMs: MOVED_LEASE_MS }),
        now,
        log,
        onAttempt: (outcome) => mails.inc({ outcome }),
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
          outbox: makeOutbox({ pg, epoch: () => epoch, now }),
          processor: cards,
          now,
          log,
          onAttempt: (outcome) => calls.inc({ outcome }),
        })),
  }

  const caches = makeCaches(deps)
  const ops = await makeOps({
    listen: env.metricsListen,
    metrics,
    log,
    checks: {
      database: () => pg.ready(),
      cluster: () => truths?.detail() ?? true,
      ledger: () => behind === 0 || `LEDGER_BEHIND: ${behind} invoices know of more than the database. ${BEHIND_NEXT}`,
      ...Object.fromEntries([...caches.byKind].map(([kind, cache]) => [kind, () => cache.isSynced()])),
    },
  })
  const ref = { namespace: env.namespace, name: LEASE_NAME }
  const held = makeTruths({
    ...deps,
    caches,
    installation: makeInstallation({ pg }),
    // only asked: nothing is written before there is an epoch
    mirror: makeMirror({ pg, epoch: () => 0 }),
    accept: env.acceptCluster,
    onUnknown: (isUnknown) => {
      marks.unknown.set(isUnknown ? 1 : 0)
      // Who holds the lease and does not begin leads nobody.
      if (!operator) metrics.leader(LEASE_NAME, !isUnknown)
    },
  })
  truths = held
  const lease = runLease({
    kube,
    ...ref,
    identity,
    onLead: async (signal) => {
      if (operator) return
      await held.agree(signal)
      const { epoch, behind: epochs } = await takeNextEpoch({ kube, pg, ref, holder: `${identity}/${randomUUID()}` })
      if (epochs > 0)
        log.warn({ epoch, epochs }, 'the database is older than the Lease: an older copy of it was put back')
      operator = await startOperator(deps, caches, epoch)
      marks.epoch.set(epoch)
      log.info({ epoch }, 'started to lead')
    },
    // The lease says who should take the next epoch, and no more. Whoever takes it fences us: our next effect is refused
    // and this process ends (`around`). Until then there is nobody to make room for: the API server is away, not we.
    onLost: () => log.warn('the lease was lost; going on until somebody takes the epoch'),
    log,
    metrics,
  })

  stop.add('readiness', () => ops.leave())
  stop.add('truths', () => held.stop())
  stop.add('operator', (leftMs) => operator?.stop(Math.min(leftMs, DRAIN_MS)), OPERATOR_STOP_MS)
  stop.add('lease', () => lease.stop())
  stop.add('caches', () => caches.stop())
  stop.add('mailer', () => mailer.close())
  stop.add('egress', () => egress.close())
  stop.add('kube', () => kube.close())
  stop.add('clock', () => devClock?.close())
  stop.add('renderer', () => pdf.close())
  stop.add('database', () => pg.close())
  stop.add('ops', () => ops.stop())
}

main().catch((error) => {
  console.error(error instanceof EnvError ? error.message : error)
  process.exit(error instanceof EnvError ? 2 : 1)
})
