/**
 * Leader election over a coordination.k8s.io Lease. It keeps two processes from doing the same work; it fences nothing. What
 * fences is the epoch that `onLead` takes from PostgreSQL (rules/platform.md#fencing), so the lease may be short: two leaders
 * for a moment cost one of them its process, and nothing else (hack/decisions/040).
 */
import { backoffMs, sleep } from '../base/backoff.ts'
import { isAlreadyExists, isConflict, isNotFound, KubeError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type Kube, microTime, type Ref } from './kube.ts'
import { type AnyObject, LEASE } from './objects.ts'

/** Others may take the lease when it has not moved for so long; the Lease itself says it in whole seconds. */
const LEASE_MS = 4_000
/** The leader gives up when it could not renew for so long: before others may take over. */
const RENEW_MS = 3_000
/** Between two renewals, or two looks, at most; half of it at least. */
const RETRY_MS = 800
/** How often the leader asks its own clock. */
const GUARD_MS = 250
/** A tick that comes so late was held up by the process itself, which stood still: a long collection, a frozen machine. */
const STALL_MS = 500

type LeaseSpec = {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}
type LeaseObject = AnyObject & { spec?: LeaseSpec }

export type LeaseOptions = {
  kube: Pick<Kube, 'get' | 'create' | 'patchSpec'>
  namespace: string
  name: string
  /** Unique per process (identity.ts). */
  identity: string
  /** Whether a holder is known to be dead: its lease need not run out. Nobody is when left out. */
  isDead?: (holder: string) => boolean
  /**
   * Won: take the epoch, then start the controllers. The lease is renewed meanwhile. The signal aborts when leadership
   * ends. A rejection gives the lease back.
   */
  onLead: (signal: AbortSignal) => Promise<void>
  /** Lost while leading: end the process at once, for somebody else may be leading already (cilium/cilium#42920). */
  onLost: () => void
  leaseMs?: number
  renewMs?: number
  retryMs?: number
  /** Monotonic milliseconds: a jump of the wall clock must neither keep nor lose the lease. */
  clock?: () => number
  random?: () => number
  log?: Log
  metrics?: { leader(name: string, isLeader: boolean): void }
}

export type Lease = {
  isLeader(): boolean
  /** Stops trying, and releases the lease if it is held, so that the next one need not wait for it to expire. */
  stop(): Promise<void>
}

type Turn = { lostAt: number; control: AbortController; lost: boolean; tickedAt: number }

/**
 * The record as others write it, and since when it has stood as it is, by our own clock: theirs may be wrong. Where nobody
 * could look, nobody could renew either: after that the holder has a while to be the first.
 */
const makeSight = (clock: () => number, { leaseMs, graceMs }: { leaseMs: number; graceMs: number }) => {
  let version: string | undefined
  let since = 0
  let isBlind = false
  let notBefore = 0
  const freeAt = ({ spec }: LeaseObject): number => {
    if (!spec?.holderIdentity) return 0
    const lastsMs = spec.leaseDurationSeconds === undefined ? leaseMs : spec.leaseDurationSeconds * 1000
    return Math.max(since + lastsMs, notBefore)
  }
  return {
    see: ({ metadata }: LeaseObject) => {
      if (isBlind) notBefore = clock() + graceMs
      isBlind = false
      if (metadata.resourceVersion === version) return
      version = metadata.resourceVersion
      since = clock()
    },
    couldNot: () => {
      isBlind = true
    },
    isFree: (held: LeaseObject): boolean => clock() >= freeAt(held),
    /** Until it may be taken, as it stands. */
    leftMs: (held: LeaseObject): number => freeAt(held) - clock(),
  }
}

type Sight = ReturnType<typeof makeSight>

/** Reads and writes of the one Lease. @returns what the methods say @throws KubeError */
const makeRecord = ({ kube, namespace, name, identity }: LeaseOptions, leaseMs: number) => {
  const ref: Ref = { namespace, name }
  const leaseDurationSeconds = Math.max(1, Math.round(leaseMs / 1000))
  const stamps = () => {
    const now = microTime(new Date())
    return { holderIdentity: identity, leaseDurationSeconds, acquireTime: now, renewTime: now }
  }
  const patch = (held: LeaseObject, spec: Record<string, unknown>, timeoutMs: number) => {
    const { resourceVersion } = held.metadata
    return kube.patchSpec<LeaseObject>(LEASE, ref, { spec }, { ...(resourceVersion && { resourceVersion }), timeoutMs })
  }
  return {
    read: (timeoutMs: number): Promise<LeaseObject | undefined> =>
      kube.get<LeaseObject>(LEASE, ref, { timeoutMs }).catch((error) => {
        if (isNotFound(error)) return undefined
        throw error
      }),
    create: (): Promise<LeaseObject> => {
      const spec = { ...stamps(), leaseTransitions: 0 }
      return kube.create<LeaseObject>(LEASE, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: ref,
        spec,
      })
    },
    take: (held: LeaseObject, timeoutMs: number) =>
      patch(held, { ...stamps(), leaseTransitions: (held.spec?.leaseTransitions ?? 0) + 1 }, timeoutMs),
    renew: (held: LeaseObject, timeoutMs: number) => patch(held, { renewTime: microTime(new Date()) }, timeoutMs),
    release: (held: LeaseObject, timeoutMs: number) =>
      patch(held, { holderIdentity: null, leaseDurationSeconds: 1, renewTime: microTime(new Date()) }, timeoutMs),
  }
}

type Running = {
  options: LeaseOptions
  record: ReturnType<typeof makeRecord>
  clock: () => number
  renewMs: number
  retryMs: number
  /** Aborts when the process does not want to lead any more. */
  stopping: AbortSignal
  turn: Turn | undefined
}

const endTurn = (running: Running) => {
  running.turn?.control.abort(new Error('not the leader any more'))
  running.turn = undefined
  running.options.metrics?.leader(running.options.name, false)
}

const lose = (running: Running, why: string) => {
  const { name, log, onLost } = running.options
  if (!running.turn) return
  running.turn.lost = true
  log?.error({ lease: name, why }, 'leadership lost')
  endTurn(running)
  onLost()
}

/** @param atMostMs for what is to happen sooner than the next look */
const pause = ({ options, retryMs }: Running, signal: AbortSignal, atMostMs = retryMs) => {
  const waitMs = backoffMs({ minMs: retryMs, maxMs: retryMs }, 0, options.random ?? Math.random)
  return sleep(Math.max(1, Math.min(waitMs, atMostMs)), signal)
}

/** The lease, and when it was asked for; or after how long it may be taken, as it stands. */
type Acquired = { won: LeaseObject; askedAt: number } | { won: null; leftMs: number }

const acquire = async ({ record, renewMs, options, clock }: Running, sight: Sight): Promise<Acquired> => {
  const held = await record.read(renewMs)
  const askedAt = clock()
  if (held === undefined) return { won: await record.create(), askedAt }
  sight.see(held)
  const { identity, isDead = () => false } = options
  const holder = held.spec?.holderIdentity ?? ''
  if (holder === identity || sight.isFree(held) || isDead(holder))
    return { won: await record.take(held, renewMs), askedAt }
  return { won: null, leftMs: sight.leftMs(held) }
}

/**
 * While the process stood still it could not renew; that is no reason to give up what nobody has taken. Who has taken it
 * meanwhile is told by the next renewal, which is refused.
 */
const tick = ({ clock }: Running, turn: Turn): void => {
  const now = clock()
  const stalledMs = now - turn.tickedAt
  if (stalledMs >= STALL_MS) turn.lostAt += stalledMs
  turn.tickedAt = now
}

/** One renewal. The turn is extended from before the request went out: that is when others may have seen it. */
const renew = async (running: Running, turn: Turn, held: LeaseObject): Promise<LeaseObject> => {
  const { record, clock, options } = running
  const startedAt = clock()
  try {
    const renewed = await record.renew(held, Math.max(1, turn.lostAt - startedAt))
    turn.lostAt = startedAt + running.renewMs
    return renewed
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error
    const now = await record.read(Math.max(1, turn.lostAt - clock()))
    if (now?.spec?.holderIdentity === options.identity) return now
    lose(running, 'another holder')
    return held
  }
}

const renewals = async (running: Running, turn: Turn, first: LeaseObject): Promise<LeaseObject> => {
  const { clock, options, stopping } = running
  let held = first
  while (running.turn === turn && !stopping.aborted) {
    // sooner where answers are slow, so that there is time for two
    await pause(running, AbortSignal.any([stopping, turn.control.signal]), (turn.lostAt - clock()) / 2)
    if (running.turn !== turn || stopping.aborted) return held
    tick(running, turn)
    if (clock() >= turn.lostAt) lose(running, 'not renewed in time')
    else {
      held = await renew(running, turn, held).catch((error) => {
        options.log?.warn({ err: error, lease: options.name }, 'lease not renewed')
        return held
      })
    }
  }
  return held
}

/** Leads until the lease is lost, given up or stopped. */
const lead = async (running: Running, won: LeaseObject, wonAt: number) => {
  const { clock, renewMs, stopping, record } = running
  const { name, identity, onLead, log, metrics } = running.options
  const turn: Turn = { lostAt: wonAt + renewMs, control: new AbortController(), lost: false, tickedAt: clock() }
  running.turn = turn
  metrics?.leader(name, true)
  log?.info({ lease: name, identity }, 'leading')
  // A timer of its own: a request that hangs, or a process that slept, must not pass the limit.
  const watchdog = () => {
    if (running.turn !== turn) return
    tick(running, turn)
    if (clock() >= turn.lostAt) lose(running, 'not renewed in time')
  }
  const guard = setInterval(watchdog, Math.min(GUARD_MS, renewMs / 10))
  const led = onLead(turn.control.signal).catch((error) => {
    log?.error({ err: error, lease: name }, 'could not begin to lead')
    if (running.turn === turn) endTurn(running)
  })
  const held = await renewals(running, turn, won)
  clearInterval(guard)
  endTurn(running)
  turn.control.abort(new Error('not the leader any more'))
  // A start that hangs must not hold up the release: it sees the signal.
  await Promise.race([led, pause(running, new AbortController().signal)])
  if (turn.lost) return
  await record.release(held, renewMs).catch((error) => log?.warn({ err: error, lease: name }, 'lease not released'))
  if (!stopping.aborted) await pause(running, stopping)
}

const run = async (running: Running, sight: Sight) => {
  const { name, log, metrics } = running.options
  metrics?.leader(name, false)
  while (!running.stopping.aborted) {
    const acquired = await acquire(running, sight).catch((error): Acquired => {
      if (!(error instanceof KubeError)) throw error
      // Somebody else was faster.
      if (!isConflict(error) && !isAlreadyExists(error)) {
        sight.couldNot()
        log?.warn({ err: error, lease: name }, 'lease not reached')
      }
      return { won: null, leftMs: running.retryMs }
    })
    if (acquired.won) await lead(running, acquired.won, acquired.askedAt)
    else await pause(running, running.stopping, acquired.leftMs)
  }
}

/** Starts at once. */
export const runLease = (options: LeaseOptions): Lease => {
  const leaseMs = options.leaseMs ?? LEASE_MS
  const retryMs = options.retryMs ?? RETRY_MS
  const clock = options.clock ?? (() => performance.now())
  const stop = new AbortController()
  const running: Running = {
    options,
    record: makeRecord(options, leaseMs),
    clock,
    renewMs: options.renewMs ?? RENEW_MS,
    retryMs,
    stopping: stop.signal,
    turn: undefined,
  }
  const ended = run(running, makeSight(clock, { leaseMs, graceMs: 2 * retryMs }))
  return {
    isLeader: () => running.turn !== undefined && clock() < running.turn.lostAt,
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}
