/**
 * Leader election over a coordination.k8s.io Lease, with client-go's figures. It keeps two processes from doing the same
 * work; it fences nothing. What fences is the epoch that `onLead` takes from PostgreSQL (rules/platform.md#fencing).
 */
import { backoffMs, sleep } from '../base/backoff.ts'
import { isAlreadyExists, isConflict, isNotFound, KubeError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type KindRef, type Kube, microTime, type Ref } from './kube.ts'
import type { AnyObject } from './objects.ts'

export const LEASE: KindRef = { kind: 'Lease', plural: 'leases', group: 'coordination.k8s.io', version: 'v1' }

/** Others may take the lease when it has not moved for so long. */
const LEASE_MS = 15_000
/** The leader gives up when it could not renew for so long: well before others may take over. */
const RENEW_MS = 10_000
const RETRY_MS = 2_000
/** How often the leader asks its own clock. */
const GUARD_MS = 250

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
  /** Unique per process: host name and a random part. */
  identity: string
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

type Turn = { lostAt: number; control: AbortController; lost: boolean }

/** The record as others write it, and since when it has stood as it is, by our own clock: theirs may be wrong. */
const makeSight = (clock: () => number, leaseMs: number) => {
  let version: string | undefined
  let since = 0
  return {
    see: ({ metadata }: LeaseObject) => {
      if (metadata.resourceVersion === version) return
      version = metadata.resourceVersion
      since = clock()
    },
    isFree: ({ spec }: LeaseObject): boolean => {
      if (!spec?.holderIdentity) return true
      const lastsMs = spec.leaseDurationSeconds === undefined ? leaseMs : spec.leaseDurationSeconds * 1000
      return clock() >= since + lastsMs
    },
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

const pause = ({ options }: Running, signal: AbortSignal) => {
  const retryMs = options.retryMs ?? RETRY_MS
  return sleep(backoffMs({ minMs: retryMs, maxMs: retryMs }, 0, options.random ?? Math.random), signal)
}

/** @returns the lease, if it is ours now */
const acquire = async ({ record, renewMs, options }: Running, sight: Sight): Promise<LeaseObject | undefined> => {
  const held = await record.read(renewMs)
  if (held === undefined) return record.create()
  sight.see(held)
  const isMine = held.spec?.holderIdentity === options.identity
  return isMine || sight.isFree(held) ? record.take(held, renewMs) : undefined
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
    await pause(running, AbortSignal.any([stopping, turn.control.signal]))
    if (running.turn !== turn || stopping.aborted) return held
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
  const turn: Turn = { lostAt: wonAt + renewMs, control: new AbortController(), lost: false }
  running.turn = turn
  metrics?.leader(name, true)
  log?.info({ lease: name, identity }, 'leading')
  // A timer of its own: a request that hangs, or a process that slept, must not pass the limit.
  const watchdog = () => {
    if (running.turn === turn && clock() >= turn.lostAt) lose(running, 'not renewed in time')
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
    const startedAt = running.clock()
    const won = await acquire(running, sight).catch((error) => {
      if (!(error instanceof KubeError)) throw error
      // Somebody else was faster.
      if (!isConflict(error) && !isAlreadyExists(error)) log?.warn({ err: error, lease: name }, 'lease not reached')
      return undefined
    })
    if (won) await lead(running, won, startedAt)
    else await pause(running, running.stopping)
  }
}

/** Starts at once. */
export const runLease = (options: LeaseOptions): Lease => {
  const leaseMs = options.leaseMs ?? LEASE_MS
  const clock = options.clock ?? (() => performance.now())
  const stop = new AbortController()
  const running: Running = {
    options,
    record: makeRecord(options, leaseMs),
    clock,
    renewMs: options.renewMs ?? RENEW_MS,
    stopping: stop.signal,
    turn: undefined,
  }
  const ended = run(running, makeSight(clock, leaseMs))
  return {
    isLeader: () => running.turn !== undefined && clock() < running.turn.lostAt,
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}
