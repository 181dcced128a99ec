/**
 * Whether this process may write: where database, cluster and key do not belong together, or one of them is an older copy, desires
 * would be written where nobody works on them. What only reads goes on (hack/decisions/030, 036).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../controllers/base/log.ts'
import type { BoundPlace, Disagreement, Installation } from '../../../controllers/store/installation/installation.ts'
import { type Here, keyFault, strangerTo } from '../../../crds/kernel/desire/absence.ts'
import type { Stage } from '../exchange.ts'
import { Problem } from '../problem.ts'
import type { RouteHead } from '../route.ts'

/** How often the database is asked, for one row: for so long a desire may be taken that nobody will work on. */
const LOOK_MS = 1_000
/** How often the cluster is asked who it is. */
const UID_MS = 60_000
/** How long a start waits for a first answer, and how often it asks for that one. */
const FIRST_MS = 10_000
const FIRST_AGAIN_MS = 500
const RETRY_AFTER_SECONDS = '60'

export type ClusterGuard = {
  /** Why nothing is to be written; null while nothing is known to be wrong. */
  disagreement(): Pick<Disagreement, 'code' | 'detail'> | null
  /** The database is empty, and another one belongs here: nobody and nothing is known. */
  isEmpty(): boolean
  /** Resolves after the first answer, or when that takes long. */
  looked: Promise<void>
  stop(): void
}

export type ClusterGuardDeps = {
  installation: Pick<Installation, 'place' | 'unboundDisagreement'>
  /** Of the cluster that this process writes to. */
  clusterUid: () => Promise<string>
  /** Of this process. */
  own: Omit<Here, 'clusterUid'>
  log: Log
  lookMs?: number
}

const wrongOf = (bound: BoundPlace, here: Here): ReturnType<ClusterGuard['disagreement']> => {
  const fault = strangerTo(bound, here) ?? keyFault(bound, here)
  return fault === null ? bound.disagreement : { code: fault.code, detail: `${fault.what}.` }
}

/** Looks now and then; what cannot be asked leaves the last answer standing. */
export const makeClusterGuard = ({
  installation,
  clusterUid,
  own,
  log,
  lookMs = LOOK_MS,
}: ClusterGuardDeps): ClusterGuard => {
  const stopped = new AbortController()
  let wrong: ReturnType<ClusterGuard['disagreement']> = null
  let isEmpty = false

  let known: { uid: string; atMs: number } | undefined
  const hereOf = async (): Promise<string> => {
    if (known === undefined || performance.now() - known.atMs > UID_MS) {
      known = { uid: await clusterUid(), atMs: performance.now() }
    }
    return known.uid
  }

  /** @returns whether there was an answer */
  const look = async (): Promise<boolean> => {
    try {
      const [bound, here] = await Promise.all([installation.place(), hereOf()])
      const now = bound ? wrongOf(bound, { ...own, clusterUid: here }) : await installation.unboundDisagreement()
      if (now !== null && now.detail !== wrong?.detail) log.error({ code: now.code }, now.detail)
      wrong = now
      isEmpty = now !== null && bound === null
      return true
    } catch (error) {
      log.debug({ err: error }, 'nobody can say whether the cluster is the right one')
      return false
    }
  }
  const firstLook = async (): Promise<void> => {
    while (!(await look())) await sleep(FIRST_AGAIN_MS, undefined, { signal: stopped.signal })
  }
  const looks = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await sleep(lookMs, undefined, { signal: stopped.signal })
      await look()
    }
  }
  const looked = firstLook()
  looked.then(looks).catch(() => undefined) // stopped
  const first = Promise.race([looked.catch(() => undefined), sleep(FIRST_MS, undefined, { ref: false })])
  return { disagreement: () => wrong, isEmpty: () => isEmpty, looked: first, stop: () => stopped.abort() }
}

/** Signing in, the clock of a development platform, and the password of a client's page: they lead to reading. */
const OPEN = /^\/(signin|signout|api\/auth|api\/dev)(\/|$)|^\/i\/:token$/

const isOpen = (route: RouteHead): boolean =>
  OPEN.test(route.path) || route.looks === true || (!route.hidden && route.rehearses === true)

const refused = ({ code, detail }: Pick<Disagreement, 'code' | 'detail'>): Problem =>
  new Problem(code, detail, { headers: { 'retry-after': RETRY_AFTER_SECONDS } })

type GuardDeps = { cluster?: Pick<ClusterGuard, 'disagreement' | 'isEmpty'> }

/** The stage that stands before the caller is known: by an empty database a good token is none, and an invoice that was sent never was. */
export const makeEmptyLedgerStage =
  ({ cluster }: GuardDeps): Stage =>
  async (_exchange, next) => {
    const wrong = cluster?.isEmpty() ? cluster.disagreement() : null
    if (wrong) throw refused(wrong)
    return next()
  }

/** The stage that refuses to write. */
export const makeClusterStage =
  ({ cluster }: GuardDeps): Stage =>
  async ({ route }, next) => {
    const wrong = cluster?.disagreement()
    if (!wrong || isOpen(route)) return next()
    throw refused(wrong)
  }
