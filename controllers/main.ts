/** The controllers' process: reads its configuration, wires the clients, waits for the lease, leads. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { LEASE_NAME } from '../crds/platform.ts'
import { startCashier } from './cashier.ts'
import { type CourierHooks, startCourier } from './courier.ts'
import { startHerald } from './herald.ts'
import { makeHeraldMetrics } from './heraldmetrics.ts'
import { makeCardProcessor } from './io/cards.ts'
import { makeMailer } from './io/mail.ts'
import { makeRenderer, RENDERER_LIMITS } from './io/renderer.ts'
import { makeCaches, type Operator, type OperatorDeps, startOperator } from './operator.ts'
import { openDevClock } from './runtime/clock.ts'
import { makeBacklog, makeDeliveries } from './runtime/deliveries.ts'
import { makeEgress } from './runtime/egress.ts'
import { CONTROLLERS, cardsOf, EnvError, readEnv } from './runtime/env.ts'
import { makeEvents } from './runtime/events.ts'
import { StaleEpoch, takeEpoch } from './runtime/fence.ts'
import { makeKeys } from './runtime/keys.ts'
import { makeKube } from './runtime/kube.ts'
import { runLease } from './runtime/lease.ts'
import { makeLog } from './runtime/log.ts'
import { makeMetrics } from './runtime/metrics.ts'
import { makeOps } from './runtime/ops.ts'
import { makeOutbox } from './runtime/outbox.ts'
import { type Around, makePg } from './runtime/pg.ts'
import { installStop } from './runtime/stop.ts'
import { VERSION } from './runtime/version.ts'

const DRAIN_MS = 15_000
/**
 * Where the clock can be moved a jump must not end the lease of a mail that is under way, or it went out twice. Whoever leads
 * after us takes what we held in any case.
 */
const MOVED_LEASE_MS = 100 * 365 * 86_400_000

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
  let operator: Operator | undefined
  // Somebody leads after us: nothing that this process still does may count.
  const around: Around = (_call, run) =>
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
  const onDelivery = makeHeraldMetrics(metrics, makeBacklog({ pg, now }))
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
    events: makeEvents({
      kube,
      reporter: 'bottega-controllers',
      instance: identity,
      log,
      onDropped: metrics.eventsDropped,
    }),
    courier: (epoch: number, hooks: CourierHooks) =>
      startCourier({
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
    herald: (epoch, hooks) =>
      startHerald({
        ...hooks,
        deliveries: makeDeliveries({ pg, sealer: keys.sealer('webhook-secret'), epoch: () => epoch, now }),
        egress,
        now,
        log,
        onAttempt: onDelivery,
      }),
    cashier:
      cards &&
      ((epoch, hooks) =>
        startCashier({
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
      ...Object.fromEntries([...caches.byKind].map(([kind, cache]) => [kind, () => cache.isSynced()])),
    },
  })
  const lease = runLease({
    kube,
    namespace: env.namespace,
    name: LEASE_NAME,
    identity,
    onLead: async () => {
      if (operator) return
      const epoch = await takeEpoch(pg, `${identity}/${randomUUID()}`)
      operator = await startOperator(deps, caches, epoch)
      log.info({ epoch }, 'started to lead')
    },
    // The lease says who should take the next epoch, and no more. Whoever takes it fences us: our next effect is refused
    // and this process ends (`around`). Until then there is nobody to make room for: the API server is away, not we.
    onLost: () => log.warn('the lease was lost; going on until somebody takes the epoch'),
    log,
    metrics,
  })

  stop.add('readiness', () => ops.leave())
  stop.add('operator', (leftMs) => operator?.stop(Math.min(leftMs, DRAIN_MS)))
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
