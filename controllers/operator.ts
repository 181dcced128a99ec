/**
 * The operator without its process: caches, ledger, mail sender and one controller per kind, wired by hand. main.ts gives it
 * the real clients; the crash sweep gives it clients that die.
 */

import { ACCOUNT } from '../crds/account/kind.ts'
import { HOST } from '../crds/host/kind.ts'
import { INVOICE } from '../crds/invoice/kind.ts'
import { LEASE_NAME } from '../crds/kernel/platform.ts'
import { closedIfAborted, unlessAborted } from './base/errors.ts'
import { makeHosts } from './io/hosts/hosts.ts'
import type { Hosts } from './io/hosts/link.ts'
import { makeMedia } from './io/pictures/media.ts'
import { makePictureQueue, type PictureQueue } from './io/pictures/queue.ts'
import { makeDirectory } from './kinds/account-index.ts'
import { watchKinds, withinCaches } from './kinds/caches.ts'
import type { Context, Tools } from './kinds/context.ts'
import type { Caches } from './kinds/held.ts'
import { makeBehind } from './kinds/invoice/behind.ts'
import { whileAbsent } from './kinds/kind-controller.ts'
import { CONTROLS } from './kinds/list.ts'
import { makePasses, type Passes } from './kinds/passes.ts'
import type { Kube } from './kube/kube.ts'
import { makeWitness } from './kube/witness.ts'
import { keepRoots } from './runtime/keptroots.ts'
import { makeLives } from './store/account/lives.ts'
import { makeAppendAudit, makeAuditKnows } from './store/audit.ts'
import { makeBlobs } from './store/blobs.ts'
import { makeCredentials, makeRouteRows } from './store/host/hosts.ts'
import { makeDesires, readKeptGenerations } from './store/ledger/desires.ts'
import { readPending } from './store/ledger/facts.ts'
import { HEAD_KEY, makeHeadWords, makeHistory } from './store/ledger/history.ts'
import { makeKnown } from './store/ledger/known.ts'
import { makeLedger } from './store/ledger/ledger.ts'
import { makeSchedule } from './store/ledger/schedule.ts'
import { listenForWakes } from './store/ledger/wakes.ts'
import { makeMirror } from './store/mirror.ts'
import { SHOW_LEADING } from './store/pg/fence.ts'
import type { Listener } from './store/pg/listen.ts'
import { makePictureRows } from './store/site/pictures.ts'
import { lookAgain } from './workers/lost/again.ts'
import { forgetAbsent, type LostDeps, lostAccounts, storedOf, sweepDesires, wakeLost } from './workers/lost/lost.ts'
import { startStrays } from './workers/lost/strays.ts'
import type { MailSenderHooks } from './workers/mail-sender.ts'
import type { OutboxWorker } from './workers/outbox-worker.ts'
import { makeNotices } from './workers/owner-notices.ts'
import type { PaymentWorkerDeps } from './workers/payment-worker.ts'
import { makeSettleAbsent, type OverdueDeps, startOverdue } from './workers/pending-facts.ts'
import { type Scheduler, startScheduler } from './workers/scheduler.ts'
import { startSpecAudit } from './workers/spec-audit.ts'
import { startHostLooks } from './workers/sweeps/hostlooks.ts'
import { startNameLooks } from './workers/sweeps/names.ts'
import { type SweepDeps, startSweep, sweepAll } from './workers/sweeps/purge.ts'
import { type ResealDeps, startReseal } from './workers/sweeps/reseal.ts'
import { startReviewReminders } from './workers/sweeps/reviews.ts'
import { type HistoryDeps, startHistory } from './workers/truths/history.ts'
import type { WebhookSender, WebhookSenderDeps } from './workers/webhook-sender.ts'

/** How long a view waits for others while many passes run: those of a batch end one by one. */
const VIEW_GATHER_MS = 25
const CROWD_FROM = 6

export type OperatorDeps = Tools & {
  /** Starts who delivers the mail that these passes queue, under the same epoch. */
  mailSender: (epoch: number, hooks: MailSenderHooks) => OutboxWorker
  /** Starts who delivers what these passes tell. */
  webhookSender: (epoch: number, hooks: Pick<WebhookSenderDeps, 'noticeOf'>) => WebhookSender
  /** Starts who asks the card processor; null when there is none. */
  paymentWorker: ((epoch: number, hooks: Pick<PaymentWorkerDeps, 'ledger' | 'onAnswer'>) => OutboxWorker) | null
  /** With each namespace by its name; `kube` when left out. */
  outside?: Pick<Kube, 'patchStatus'>
  /** Told of what is sealed under which key. */
  onSealed?: ResealDeps['onCounted']
  /** Of the Lease, when that is another namespace. */
  home?: string | undefined
  /** How often the head of audit and register is told, and to whom beside the log; never when left out. */
  heads?: Pick<HistoryDeps, 'everyMs' | 'onHead' | 'onRewritten'>
}

type Watching = Pick<OperatorDeps, 'kube' | 'namespace' | 'log' | 'metrics'>
export const makeCaches = ({ kube, namespace, log, metrics }: Watching): Caches =>
  watchKinds({ kube, namespace, log, ...(metrics && { metrics: metrics.watch }) })

export type Operator = {
  /** Nothing waits and nothing runs. */
  idle(): boolean
  /** Looks at every resource and everything that is due, as after a jump of the clock; resolves when it has been dealt with. */
  lookAtAll(): Promise<void>
  /** Ends intake, lets passes and the mail under way end, within the bound. */
  stop(deadlineMs: number): Promise<void>
}

type Leading = {
  deps: OperatorDeps
  caches: Caches
  epoch: number
  passes: Passes
  /** The process is to end. */
  signal: AbortSignal
}
type Rings = Pick<Context, 'onQueued' | 'onScheduled'>

/** What the controllers are given under this epoch. */
const makeContext = async (
  { deps, caches, epoch, passes }: Leading,
  rings: Rings,
  begun: Pick<Begun, 'hosts' | 'pictures'>,
): Promise<Context> => {
  const { pg, namespace, log, now } = deps
  const fenced = { pg, epoch: () => epoch }
  const hosts = makeHosts({
    ...deps,
    held: caches.of(HOST),
    credentials: makeCredentials(deps),
    rows: makeRouteRows({ ...fenced, keys: deps.keys }),
    fence: () => ({ installation: deps.keys.installation, epoch }),
    ...(deps.hostAround && { around: deps.hostAround }),
    ...(deps.onHostAhead && { onAhead: deps.onHostAhead }),
  })
  begun.hosts = hosts
  const blobs = makeBlobs({ pg })
  const media = makeMedia(deps)
  begun.pictures = makePictureQueue({ rows: makePictureRows(fenced), blobs, media, wake: passes.wake, now, log })
  const gatherMs = (crowdedMs: number) => (passes.busy() >= CROWD_FROM ? crowdedMs : 0)
  const behind = makeBehind({ known: makeKnown(fenced), invoices: caches.of(INVOICE), log, onCount: deps.onBehind })
  // whoever waits for the next number waits for this
  const [lives, known] = await Promise.all([makeLives(fenced), readKeptGenerations(pg), behind.look()])
  const desires = makeDesires({ ...fenced, known })
  return {
    ...deps,
    ...rings,
    epoch: () => epoch,
    ledger: makeLedger(fenced),
    desires,
    gatherMs,
    mirror: makeMirror({ ...fenced, known, gatherMs: () => gatherMs(VIEW_GATHER_MS) }),
    blobs,
    schedule: makeSchedule({ ...fenced, now }),
    behind,
    witness: makeWitness(deps),
    accounts: makeDirectory(caches.of(ACCOUNT), namespace, lives, await lostAccounts(desires, caches, namespace)),
    lives,
    hosts,
    media,
    pictures: begun.pictures,
    held: caches.of,
    wake: passes.wake,
  }
}

/** What leads, as far as it has begun. */
type Begun = {
  passes: Passes
  /** Nothing is begun by them any more. */
  ends: (() => void)[]
  senders: (OutboxWorker | WebhookSender)[]
  listeners: Pick<Listener, 'close'>[]
  scheduler?: Scheduler
  hosts?: Hosts
  pictures?: PictureQueue
}

/** Who performs what passes queue. */
const startSenders = async ({ deps, epoch, signal }: Leading, context: Context, begun: Begun): Promise<void> => {
  const { senders, passes } = begun
  const { wakeHeld } = passes
  const webhookSender = deps.webhookSender(epoch, { noticeOf: makeNotices({ ...deps, accounts: context.accounts }) })
  senders.push(webhookSender)
  senders.push(deps.mailSender(epoch, { onDelivered: wakeHeld, isHeld: context.behind.has }))
  const paymentWorker = deps.paymentWorker?.(epoch, { ledger: context.ledger, onAnswer: wakeHeld })
  if (paymentWorker) senders.push(paymentWorker)
  const onReconnect = () => void lookAgain({ ...context, passes })
  // What a caller asks for by hand is not left to the next look.
  begun.listeners.push(
    await closedIfAborted(
      deps.pg.listen('webhooks', (endpoint) => webhookSender.queued(endpoint), onReconnect, SHOW_LEADING),
      signal,
    ),
  )
  // The API server could not be told.
  begun.listeners.push(await closedIfAborted(listenForWakes(deps, wakeHeld), signal))
}

/** What looks now and then for what nobody was told of. */
const startLooks = (
  { deps, caches, passes, epoch }: Leading,
  { context, sweeping, ends }: { context: Context; sweeping: SweepDeps; ends: Begun['ends'] },
): void => {
  const { pg, now, log } = deps
  const audit = { caches: caches.byKind, knows: makeAuditKnows({ pg }), append: makeAppendAudit({ pg }), now, log }
  const read: OverdueDeps['read'] = (after, limit) => readPending({ pg }, after, limit)
  const isHeld: OverdueDeps['isHeld'] = (kind, name) => passes.find(kind, name) !== undefined
  const kinds = new Map(CONTROLS.map((control) => [control.kind.kind, whileAbsent(control, context)]))
  const settleAbsent = makeSettleAbsent({ ...context, kinds })
  ends.push(startSpecAudit(audit))
  ends.push(startSweep(sweeping), startNameLooks(context, { log }), startHostLooks(context, { log }))
  ends.push(startReviewReminders(context, { log }))
  const lease = { namespace: deps.home ?? deps.namespace, name: LEASE_NAME }
  const onRound = () => keepRoots(deps, lease)
  // not only after the first round: until then a lost database would take them along
  onRound().catch((err) => log.warn({ err }, 'the roots were not written to the Lease yet'))
  ends.push(startReseal({ pg, ring: deps.keys.ring, log, onRound, ...(deps.onSealed && { onCounted: deps.onSealed }) }))
  if (deps.heads) {
    const told = {
      history: makeHistory({ pg, epoch: () => epoch }),
      words: makeHeadWords(deps.keys.lastingKey(HEAD_KEY)),
    }
    ends.push(startHistory({ ...told, ...deps.heads, now, log }))
  }
  if (deps.strays) ends.push(startStrays({ strays: deps.strays, kube: deps.outside ?? deps.kube, now, log }))
  ends.push(startOverdue({ read, isHeld, wake: passes.wakeHeld, settleAbsent, log }))
}

/** Ends what has begun, each part whatever becomes of the others. */
const endBegun = async ({ log }: OperatorDeps, begun: Begun, deadlineMs: number): Promise<void> => {
  const { passes, ends, senders, listeners, scheduler, hosts, pictures } = begun
  for (const end of ends.splice(0)) end()
  const parts = [...senders, ...(scheduler ? [scheduler] : []), ...(pictures ? [pictures] : [])]
  const working = [
    passes.stop(deadlineMs),
    ...listeners.map((listener) => listener.close()),
    ...parts.map((part) => part.stop()),
  ]
  const ended = [...(await Promise.allSettled(working)), ...(await Promise.allSettled([hosts?.close()]))]
  for (const one of ended)
    if (one.status === 'rejected') log.warn({ err: one.reason }, 'a part of the operator did not end cleanly')
}

const begin = async (leading: Leading, begun: Begun): Promise<Operator> => {
  const { deps, caches, passes, signal } = leading
  const { pg, namespace, log, now, isClockTrusted } = deps
  // Passes run before those are there whom they ring.
  const rings = {
    onQueued: () => {
      for (const sender of begun.senders) sender.wake()
    },
    onScheduled: () => begun.scheduler?.wake(),
  }
  const context = await makeContext(leading, rings, begun)
  const kinds = CONTROLS.flatMap(({ kind, sweep }) => (sweep ? [[kind.kind, () => sweep(context)] as const] : []))
  kinds.push(['desires', () => sweepDesires(context.desires, passes.find)])
  const timed = { now, isClockTrusted, log }
  const sweeping: SweepDeps = { pg, ...timed, kinds: new Map(kinds) }
  const lost: LostDeps = { ...context, caches, passes }
  signal.throwIfAborted()
  passes.start(context)
  await startSenders(leading, context, begun)
  signal.throwIfAborted()
  startLooks(leading, { context, sweeping, ends: begun.ends })
  const { find, wake } = passes
  const timetable = startScheduler({
    schedule: context.schedule,
    find,
    stored: storedOf(context.desires, namespace),
    wake,
    onQueued: context.onQueued,
    ...timed,
  })
  begun.scheduler = timetable
  await forgetAbsent(lost, namespace)
  await wakeLost(lost)
  signal.throwIfAborted()
  return {
    idle: () => passes.busy() === 0 && context.pictures.idle(),
    lookAtAll: async () => {
      passes.wakeAll()
      await wakeLost(lost)
      context.onQueued()
      await sweepAll(sweeping)
      await passes.settled()
      // What is claimed has its resource looked at, which may make something else due.
      while ((await timetable.sweep()) > 0) await passes.settled()
    },
    stop: (deadlineMs) => endBegun(deps, begun, deadlineMs),
  }
}

/**
 * Starts to lead: from here on every effect carries `epoch`.
 * @param epoch what takeEpoch gave
 * @param signal the process is to end: what has begun is ended, and nothing more begins
 * @throws what failed, or the signal's reason; nothing of it runs any more then
 */
export const startOperator = async (
  deps: OperatorDeps,
  caches: Caches,
  epoch: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<Operator> => {
  await unlessAborted(caches.synced, signal)
  const within = withinCaches(caches)
  const passes = makePasses(within.caches, deps.namespace)
  const begun: Begun = { passes, ends: [within.leave], senders: [], listeners: [] }
  try {
    return await begin({ deps, caches: within.caches, epoch, passes, signal }, begun)
  } catch (error) {
    await endBegun(deps, begun, 0)
    throw error
  }
}
