/**
 * The operator without its process: caches, ledger, mail sender and one controller per kind, wired by hand. main.ts gives it
 * the real clients; the crash sweep gives it clients that die.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { ACCOUNT } from '../crds/account/kind.ts'
import { HOST } from '../crds/host/kind.ts'
import { INVOICE } from '../crds/invoice/kind.ts'
import type { Kind } from '../crds/kernel/kind.ts'
import { type CommonStatus, keyOf, PAUSED, type Resource } from '../crds/kernel/object.ts'
import { makeHosts } from './io/hosts/hosts.ts'
import { makeMedia } from './io/pictures/media.ts'
import { makeDirectory } from './kinds/account-index.ts'
import type { Context, Tools } from './kinds/context.ts'
import type { AnyResource, Caches } from './kinds/held.ts'
import { makeBehind } from './kinds/invoice/behind.ts'
import { follow } from './kinds/kind-controller.ts'
import { CONTROLS } from './kinds/list.ts'
import { type Cache, reflect } from './kube/watch.ts'
import { makeWitness } from './kube/witness.ts'
import type { Gone } from './runtime/contract.ts'
import type { RunningController } from './runtime/controller.ts'
import { makeLives } from './store/account/lives.ts'
import { makeAppendAudit, makeAuditKnows } from './store/audit.ts'
import { makeBlobs } from './store/blobs.ts'
import { makeCredentials, makeRouteRows } from './store/host/hosts.ts'
import { makeDesires, readKeptGenerations } from './store/ledger/desires.ts'
import { readPending } from './store/ledger/facts.ts'
import { makeKnown } from './store/ledger/known.ts'
import { makeLedger } from './store/ledger/ledger.ts'
import { makeSchedule } from './store/ledger/schedule.ts'
import { makeMirror } from './store/mirror.ts'
import {
  forgetAbsent,
  GOING_ON,
  type LostDeps,
  lostAccounts,
  storedOf,
  sweepDesires,
  wakeLost,
} from './workers/lost/lost.ts'
import type { MailSenderHooks } from './workers/mail-sender.ts'
import type { OutboxWorker } from './workers/outbox-worker.ts'
import { makeNotices } from './workers/owner-notices.ts'
import type { PaymentWorkerDeps } from './workers/payment-worker.ts'
import { type OverdueDeps, startOverdue } from './workers/pending-facts.ts'
import { type SweepDeps, startSweep, sweepAll } from './workers/purge.ts'
import { type Scheduler, startScheduler } from './workers/scheduler.ts'
import { startSpecAudit } from './workers/spec-audit.ts'
import type { WebhookSender, WebhookSenderDeps } from './workers/webhook-sender.ts'

/** How long a view waits for others while many passes run: those of a batch end one by one. */
const VIEW_GATHER_MS = 40
const CROWD_FROM = 6
const IDLE_POLL_MS = 20
const LOOK_LIMIT_MS = 60_000

export type OperatorDeps = Tools & {
  /** Starts who delivers the mail that these passes queue, under the same epoch. */
  mailSender: (epoch: number, hooks: MailSenderHooks) => OutboxWorker
  /** Starts who delivers what these passes tell. */
  webhookSender: (epoch: number, hooks: Pick<WebhookSenderDeps, 'noticeOf'>) => WebhookSender
  /** Starts who asks the card processor; null when there is none. */
  paymentWorker: ((epoch: number, hooks: Pick<PaymentWorkerDeps, 'ledger' | 'onAnswer'>) => OutboxWorker) | null
}

export const makeCaches = ({ kube, namespace, log, metrics }: OperatorDeps): Caches => {
  const common = { kube, namespace, log, ...(metrics && { metrics: metrics.watch }) }
  const byKind = new Map(CONTROLS.map(({ kind }) => [kind.kind, reflect<AnyResource>({ ...common, kind })]))
  const all = [...byKind.values()]
  return {
    of: <Spec, Status extends CommonStatus>({ kind }: Kind<Spec, Status>) => {
      const cache = byKind.get(kind)
      if (!cache) throw new Error(`no controller drives ${kind}`)
      return cache as unknown as Cache<Resource<Spec, Status>>
    },
    byKind,
    synced: Promise.all(all.map((cache) => cache.synced)),
    stop: () => Promise.all(all.map((cache) => cache.stop())),
  }
}

export type Operator = {
  /** Nothing waits and nothing runs. */
  idle(): boolean
  /** Looks at every resource and everything that is due, as after a jump of the clock; resolves when it has been dealt with. */
  lookAtAll(): Promise<void>
  /** Ends intake, lets passes and the mail under way end, within the bound. */
  stop(deadlineMs: number): Promise<void>
}

/** The passes over every kind, and what has resources looked at. */
const makePasses = (caches: Caches, namespace: string) => {
  const running = new Map<string, RunningController>()
  const busy = () => [...running.values()].reduce((sum, controller) => sum + controller.busy(), 0)
  const find = (kind: string, name: string) => caches.byKind.get(kind)?.get(keyOf({ namespace, name }))
  const wake = (kind: string, name: string) => running.get(kind)?.wake(keyOf({ namespace, name }))
  return {
    busy,
    find,
    wake,
    /** A row may be about what is no resource, or none any more; and no pass is made over one that is paused. */
    wakeHeld: (kind: string, name: string) => {
      const held = find(kind, name)
      // one that was lost may go on without a resource: its pass knows
      if (held ? held.metadata.annotations?.[PAUSED] !== 'true' : GOING_ON.has(kind)) wake(kind, name)
    },
    wakeAll: () => {
      for (const [kind, cache] of caches.byKind) for (const { metadata } of cache.list()) wake(kind, metadata.name)
    },
    forget: (kind: string, name: string, how: Gone) => running.get(kind)?.forget(keyOf({ namespace, name }), how),
    /** @returns the ways to end what follows from changes of other kinds */
    start: (context: Context): (() => void)[] =>
      CONTROLS.map((control) => {
        const { kind } = control.kind
        const controller = control.start(context, caches.byKind.get(kind) as Cache<AnyResource>)
        running.set(kind, controller)
        return follow(control, controller, (other) => caches.byKind.get(other))
      }),
    settled: async () => {
      for (let left = LOOK_LIMIT_MS / IDLE_POLL_MS; busy() > 0; left--) {
        if (left <= 0) throw new Error(`${busy()} resources are still being worked on`)
        await sleep(IDLE_POLL_MS)
      }
    },
    stop: (deadlineMs: number) => Promise.all([...running.values()].map((controller) => controller.stop(deadlineMs))),
  }
}
type Passes = ReturnType<typeof makePasses>

type Leading = { deps: OperatorDeps; caches: Caches; epoch: number; passes: Passes }

type Rings = Pick<Context, 'onQueued' | 'onScheduled'>

/** What the controllers are given under this epoch. */
const makeContext = async ({ deps, caches, epoch, passes }: Leading, rings: Rings): Promise<Context> => {
  const { pg, namespace, log, now } = deps
  const fenced = { pg, epoch: () => epoch }
  const hosts = makeHosts({
    ...deps,
    held: caches.of(HOST),
    credentials: makeCredentials(deps),
    rows: makeRouteRows(fenced),
    fence: () => ({ installation: deps.keys.installation, epoch }),
    ...(deps.hostAround && { around: deps.hostAround }),
  })
  const lives = await makeLives(fenced)
  const known = await readKeptGenerations(pg)
  const desires = makeDesires({ ...fenced, known })
  const behind = makeBehind({ known: makeKnown(fenced), invoices: caches.of(INVOICE), log, onCount: deps.onBehind })
  await behind.look()
  return {
    ...deps,
    ...rings,
    epoch: () => epoch,
    ledger: makeLedger(fenced),
    desires,
    mirror: makeMirror({ ...fenced, known, gatherMs: () => (passes.busy() >= CROWD_FROM ? VIEW_GATHER_MS : 0) }),
    blobs: makeBlobs({ pg }),
    schedule: makeSchedule({ ...fenced, now }),
    behind,
    witness: makeWitness(deps),
    accounts: makeDirectory(caches.of(ACCOUNT), namespace, lives, await lostAccounts(desires, caches, namespace)),
    lives,
    hosts,
    media: makeMedia(deps),
    held: caches.of,
    wake: passes.wake,
  }
}

/** Who performs what passes queue. */
const startSenders = async ({ deps, epoch, passes }: Leading, context: Context) => {
  const { wakeHeld } = passes
  const webhookSender = deps.webhookSender(epoch, { noticeOf: makeNotices({ ...deps, accounts: context.accounts }) })
  const mailSender = deps.mailSender(epoch, { onDelivered: wakeHeld, isHeld: context.behind.has })
  const paymentWorker = deps.paymentWorker?.(epoch, { ledger: context.ledger, onAnswer: wakeHeld })
  const senders = [mailSender, webhookSender, ...(paymentWorker ? [paymentWorker] : [])]
  // What a caller asks for by hand is not left to the next look.
  const changes = await deps.pg.listen('webhooks', (endpoint) => webhookSender.queued(endpoint))
  return {
    wake: () => {
      for (const sender of senders) sender.wake()
    },
    stop: () => Promise.all([...senders.map((sender) => sender.stop()), changes.close()]),
  }
}

/** What looks now and then for what nobody was told of. @returns the ways to end it */
const startLooks = ({ deps, caches, passes }: Leading, sweeping: SweepDeps): (() => void)[] => {
  const { pg, now, log } = deps
  const audit = { caches: caches.byKind, knows: makeAuditKnows({ pg }), append: makeAppendAudit({ pg }), now, log }
  const read: OverdueDeps['read'] = (after, limit) => readPending({ pg }, after, limit)
  return [startSpecAudit(audit), startSweep(sweeping), startOverdue({ read, wake: passes.wakeHeld, log })]
}

/**
 * Starts to lead: from here on every effect carries `epoch`.
 * @param epoch what takeEpoch gave
 */
export const startOperator = async (deps: OperatorDeps, caches: Caches, epoch: number): Promise<Operator> => {
  const { pg, namespace, log, now } = deps
  await caches.synced
  const passes = makePasses(caches, namespace)
  const leading: Leading = { deps, caches, epoch, passes }
  // Passes run before those are there whom they ring.
  let senders: Awaited<ReturnType<typeof startSenders>> | undefined
  let scheduler: Scheduler | undefined
  const rings = { onQueued: () => senders?.wake(), onScheduled: () => scheduler?.wake() }
  const context = await makeContext(leading, rings)
  const kinds = CONTROLS.flatMap(({ kind, sweep }) => (sweep ? [[kind.kind, () => sweep(context)] as const] : []))
  kinds.push(['desires', () => sweepDesires(context.desires, passes.find)])
  const sweeping: SweepDeps = { pg, now, log, kinds: new Map(kinds) }
  const lost: LostDeps = { ...context, caches, passes }
  const ends = passes.start(context)
  senders = await startSenders(leading, context)
  ends.push(...startLooks(leading, sweeping))
  const { find, wake } = passes
  const timetable = startScheduler({
    schedule: context.schedule,
    find,
    stored: storedOf(context.desires, namespace),
    wake,
    onQueued: context.onQueued,
    now,
    log,
  })
  scheduler = timetable
  await forgetAbsent(lost, namespace)
  await wakeLost(lost)
  const sending = senders
  return {
    idle: () => passes.busy() === 0,
    lookAtAll: async () => {
      passes.wakeAll()
      await wakeLost(lost)
      context.onQueued()
      await sweepAll(sweeping)
      await passes.settled()
      // What is claimed has its resource looked at, which may make something else due.
      while ((await timetable.sweep()) > 0) await passes.settled()
    },
    stop: async (deadlineMs) => {
      for (const end of ends) end()
      await timetable.stop()
      await Promise.all([passes.stop(deadlineMs), sending.stop()])
      await context.hosts.close()
    },
  }
}
