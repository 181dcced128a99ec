/**
 * Leader election over a coordination.k8s.io Lease, with client-go's figures. It keeps two processes from doing the same
 * work; it fences nothing. What fences is the epoch that `onLead` takes from PostgreSQL (DESIGN section 1).
 */
import { type Backoff, backoffMs, sleep } from './backoff.ts'
import { isAlreadyExists, isConflict, isNotFound, KubeError } from './errors.ts'
import { type AnyObject, type KindRef, type Kube, microTime, type Ref } from './kube.ts'
import type { Log } from './log.ts'

const LEASE: KindRef = { kind: 'Lease', plural: 'leases', group: 'coordination.k8s.io', version: 'v1' }

/** Others may take the lease when it has not moved for so long. */
const LEASE_MS = 15_000
/** The leader gives up when it could not renew for so long: well before others may take over. */
const RENEW_MS = 10_000
const RETRY_MS = 2_000

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

type Turn = { lostAt: number; control: AbortController }

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

/** Starts at once. */
export const runLease = (options: LeaseOptions): Lease => {
  const { name, identity, onLead, onLost, log, metrics } = options
  const leaseMs = options.leaseMs ?? LEASE_MS
  const renewMs = options.renewMs ?? RENEW_MS
  const retry: Backoff = { minMs: options.retryMs ?? RETRY_MS, maxMs: options.retryMs ?? RETRY_MS }
  const clock = options.clock ?? (() => performance.now())
  const random = options.random ?? Math.random
  const stopping = new AbortController()
  const sight = makeSight(clock, leaseMs)
  const record = makeRecord(options, leaseMs)
  let turn: Turn | undefined

  const pause = (signal: AbortSignal) => sleep(backoffMs(retry, 0, random), signal)
  const isMine = (held: LeaseObject) => held.spec?.holderIdentity === identity

  const endTurn = () => {
    turn?.control.abort(new Error('not the leader any more'))
    turn = undefined
    metrics?.leader(name, false)
  }

  const lose = (why: string) => {
    if (!turn) return
    log?.error({ lease: name, why }, 'leadership lost')
    endTurn()
    onLost()
  }

  /** @returns the lease, if it is ours now */
  const acquire = async (): Promise<LeaseObject | undefined> => {
    const held = await record.read(renewMs)
    if (held === undefined) return record.create()
    sight.see(held)
    return isMine(held) || sight.isFree(held) ? record.take(held, renewMs) : undefined
  }

  /** One renewal. The turn is extended from before the request went out: that is when others may have seen it. */
  const renew = async (current: Turn, held: LeaseObject): Promise<LeaseObject> => {
    const startedAt = clock()
    const leftMs = Math.max(1, current.lostAt - startedAt)
    try {
      const renewed = await record.renew(held, leftMs)
      current.lostAt = startedAt + renewMs
      return renewed
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error
      const now = await record.read(Math.max(1, current.lostAt - clock()))
      if (now === undefined || !isMine(now)) {
        lose('another holder')
        return held
      }
      return now
    }
  }

  const keep = async (first: LeaseObject, wonAt: number): Promise<LeaseObject> => {
    const current: Turn = { lostAt: wonAt + renewMs, control: new AbortController() }
    turn = current
    let held = first
    // Checked by a timer of its own: a request that hangs, or a process that slept, must not pass the limit.
    const guard = setInterval(
      () => clock() >= current.lostAt && lose('not renewed in time'),
      Math.min(250, renewMs / 10),
    )
    const led = onLead(current.control.signal).catch((error) => {
      log?.error({ err: error, lease: name }, 'could not begin to lead')
      if (turn === current) endTurn()
    })
    metrics?.leader(name, true)
    log?.info({ lease: name, identity }, 'leading')
    try {
      while (turn === current && !stopping.signal.aborted) {
        await pause(AbortSignal.any([stopping.signal, current.control.signal]))
        if (turn !== current || stopping.signal.aborted) break
        if (clock() >= current.lostAt) lose('not renewed in time')
        else held = await renew(current, held).catch((error) => renewFailed(error, held))
      }
    } finally {
      clearInterval(guard)
    }
    if (stopping.signal.aborted) current.control.abort(new Error('stopping'))
    // A start that hangs must not hold up the release: it sees the signal.
    await Promise.race([led, sleep(retry.minMs, new AbortController().signal)])
    return held
  }

  const renewFailed = (error: unknown, held: LeaseObject): LeaseObject => {
    log?.warn({ err: error, lease: name }, 'lease not renewed')
    return held
  }

  const release = async (held: LeaseObject) => {
    await record.release(held, renewMs).catch((error) => log?.warn({ err: error, lease: name }, 'lease not released'))
  }

  const run = async () => {
    metrics?.leader(name, false)
    while (!stopping.signal.aborted) {
      const startedAt = clock()
      const won = await acquire().catch((error) => {
        // Somebody else was faster.
        if (!isConflict(error) && !isAlreadyExists(error)) log?.warn({ err: error, lease: name }, 'lease not reached')
        if (!(error instanceof KubeError)) throw error
        return undefined
      })
      if (won) await lead(won, startedAt)
      else await pause(stopping.signal)
    }
  }

  const lead = async (won: LeaseObject, startedAt: number) => {
    const held = await keep(won, startedAt)
    const lost = turn === undefined
    endTurn()
    if (!lost) await release(held)
    else await pause(stopping.signal)
  }

  const ended = run()
  return {
    isLeader: () => turn !== undefined && clock() < turn.lostAt,
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}
