/**
 * The operator without its process: caches, ledger, courier and one controller per kind, wired by hand. main.ts gives it
 * the real clients; the crash sweep gives it clients that die.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ACCOUNT } from '../crds/account/kind.ts'
import { HOST } from '../crds/host/kind.ts'
import type { Kind } from '../crds/kind.ts'
import { type CommonStatus, keyOf, type Resource } from '../crds/object.ts'
import { startSpecAudit } from './audit.ts'
import type { Cashier, CashierDeps } from './cashier.ts'
import { type AnyResource, follow } from './control.ts'
import type { Courier, CourierHooks } from './courier.ts'
import { makeDirectory } from './directory.ts'
import type { Herald, HeraldDeps } from './herald.ts'
import type { House, Tools } from './house.ts'
import { makeHosts } from './io/hosts.ts'
import { makeMedia } from './io/media.ts'
import { CONTROLS } from './kinds.ts'
import { makeNotices } from './notices.ts'
import { makeAppendAudit, makeAuditKnows } from './runtime/audit.ts'
import { makeBlobs } from './runtime/blobs.ts'
import type { RunningController } from './runtime/controller.ts'
import { makeCredentials, makeRouteRows } from './runtime/hosts.ts'
import { makeLedger } from './runtime/ledger.ts'
import { makeMirror } from './runtime/mirror.ts'
import { makeSchedule } from './runtime/schedule.ts'
import { type Cache, reflect } from './runtime/watch.ts'
import { type Scheduler, startScheduler } from './scheduler.ts'
import { type SweepDeps, startSweep, sweepAll } from './sweep.ts'

/** How long a view waits for others while many passes run: those of a wave end one by one. */
const VIEW_GATHER_MS = 40
const CROWD_FROM = 6
const IDLE_POLL_MS = 20
const LOOK_LIMIT_MS = 60_000

export type OperatorDeps = Tools & {
  /** Starts who delivers the mail that these passes queue, under the same epoch. */
  courier: (epoch: number, hooks: CourierHooks) => Courier
  /** Starts who delivers what these passes tell. */
  herald: (epoch: number, hooks: Pick<HeraldDeps, 'noticeOf'>) => Herald
  /** Starts who asks the card processor; null when there is none. */
  cashier: ((epoch: number, hooks: Pick<CashierDeps, 'ledger' | 'onAnswer'>) => Cashier) | null
}

/** What every process of the controllers keeps, leader or not, so that a standby takes over warm. */
export type Caches = {
  of<Spec, Status extends CommonStatus>(kind: Kind<Spec, Status>): Cache<Resource<Spec, Status>>
  byKind: ReadonlyMap<string, Cache<AnyResource>>
  synced: Promise<unknown>
  stop(): Promise<unknown>
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

/**
 * Starts to lead: from here on every effect carries `epoch`.
 * @param epoch what takeEpoch gave
 */
export const startOperator = async (deps: OperatorDeps, caches: Caches, epoch: number): Promise<Operator> => {
  const { pg, namespace, log, now } = deps
  await caches.synced

  const running = new Map<string, RunningController>()
  const busy = () => [...running.values()].reduce((sum, controller) => sum + controller.busy(), 0)
  const wake = (kind: string, name: string) => running.get(kind)?.wake(keyOf({ namespace, name }))
  const fenced = { pg, epoch: () => epoch }
  let courier: Courier | undefined
  let scheduler: Scheduler | undefined
  let cashier: Cashier | undefined
  let herald: Herald | undefined
  const hosts = makeHosts({
    ...deps,
    held: caches.of(HOST),
    credentials: makeCredentials(deps),
    rows: makeRouteRows(fenced),
    fence: () => ({ installation: deps.keys.installation, epoch }),
    ...(deps.hostAround && { around: deps.hostAround }),
  })
  const house: House = {
    ...deps,
    epoch: () => epoch,
    ledger: makeLedger(fenced),
    mirror: makeMirror({ ...fenced, gatherMs: () => (busy() >= CROWD_FROM ? VIEW_GATHER_MS : 0) }),
    blobs: makeBlobs({ pg }),
    schedule: makeSchedule({ ...fenced, now }),
    accounts: makeDirectory(caches.of(ACCOUNT), namespace),
    hosts,
    media: makeMedia(deps),
    held: caches.of,
    wake,
    onQueued: () => {
      courier?.wake()
      cashier?.wake()
      herald?.wake()
    },
    onScheduled: () => scheduler?.wake(),
  }

  const kinds = CONTROLS.flatMap(({ kind, sweep }) => (sweep ? [[kind.kind, () => sweep(house)] as const] : []))
  const sweeping: SweepDeps = { pg, now, log, kinds: new Map(kinds) }
  const ends: (() => void)[] = []
  for (const control of CONTROLS) {
    const controller = control.start(house, caches.byKind.get(control.kind.kind) as Cache<AnyResource>)
    running.set(control.kind.kind, controller)
    ends.push(follow(control, controller, (kind) => caches.byKind.get(kind)))
  }
  courier = deps.courier(epoch, { onDelivered: (name) => wake('Invoice', name) })
  herald = deps.herald(epoch, { noticeOf: makeNotices({ ...deps, accounts: house.accounts }) })
  // What a caller asks for by hand is not left to the next look.
  const heard = await pg.listen('webhooks', (endpoint) => herald?.queued(endpoint))
  cashier = deps.cashier?.(epoch, { ledger: house.ledger, onAnswer: (name) => wake('Invoice', name) })
  ends.push(
    startSpecAudit({
      caches: caches.byKind,
      knows: makeAuditKnows({ pg }),
      append: makeAppendAudit({ pg }),
      now,
      log,
    }),
    startSweep(sweeping),
  )
  const timetable = startScheduler({
    schedule: house.schedule,
    find: (kind, name) => caches.byKind.get(kind)?.get(keyOf({ namespace, name })),
    wake,
    onQueued: house.onQueued,
    now,
    log,
  })
  scheduler = timetable
  // Rows of resources that went while nobody looked: each is forgotten as if its deletion had been seen.
  for (const [kind, cache] of caches.byKind) {
    const uids = cache.list().map(({ metadata }) => metadata.uid)
    for (const name of await house.mirror.unknown(kind, uids)) wake(kind, name)
  }

  const settle = async () => {
    for (let left = LOOK_LIMIT_MS / IDLE_POLL_MS; busy() > 0; left--) {
      if (left <= 0) throw new Error(`${busy()} resources are still being worked on`)
      await sleep(IDLE_POLL_MS)
    }
  }

  return {
    idle: () => busy() === 0,
    lookAtAll: async () => {
      for (const [kind, cache] of caches.byKind) for (const { metadata } of cache.list()) wake(kind, metadata.name)
      house.onQueued()
      await sweepAll(sweeping)
      await settle()
      // What is claimed has its resource looked at, which may make something else due.
      while ((await timetable.sweep()) > 0) await settle()
    },
    stop: async (deadlineMs) => {
      for (const end of ends) end()
      await timetable.stop()
      await Promise.all([
        ...[...running.values()].map((controller) => controller.stop(deadlineMs)),
        courier?.stop(),
        cashier?.stop(),
        herald?.stop(),
        heard.close(),
      ])
      await hosts.close()
    },
  }
}
