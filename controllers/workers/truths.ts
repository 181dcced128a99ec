/**
 * Whether database and cluster belong together, asked before anybody leads: another cluster than the database's, or one in
 * which much of what is known is absent, is served from the database and is not worked on (hack/decisions/030).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { keyOf } from '../../crds/kernel/object.ts'
import { LEASE_NAME } from '../../crds/kernel/platform.ts'
import type { Log } from '../base/log.ts'
import type { Caches } from '../kinds/held.ts'
import type { Events } from '../kube/events.ts'
import type { Kube } from '../kube/kube.ts'
import { LEASE } from '../kube/lease.ts'
import type { AnyObject } from '../kube/objects.ts'
import { clusterUidOf } from '../kube/witness.ts'
import { type Disagreement, type Installation, otherCluster } from '../store/installation.ts'
import type { DeletionReader } from '../store/ledger/desires.ts'
import type { Mirror } from '../store/mirror.ts'
import { type Absence, absenceOf } from './absence.ts'

/** How often it is asked again while they disagree. */
const AGAIN_MS = 10_000

export type TruthsDeps = {
  kube: Pick<Kube, 'get'>
  namespace: string
  installation: Installation
  mirror: Pick<Mirror, 'known' | 'unknown'>
  deletions: DeletionReader
  caches: Pick<Caches, 'byKind' | 'synced'>
  /** The token of a disagreement that a person accepts; undefined: none. */
  accept: string | undefined
  log: Log
  events?: Events
  /** Whenever it changes. */
  onUnknown(isUnknown: boolean): void
  /** For tests. */
  againMs?: number
}

export type Truths = {
  /** Resolves once database and cluster agree; says so while they do not. @throws the signal's reason, or what could not be asked */
  agree(signal: AbortSignal): Promise<void>
  /** Something went that nobody deleted: looks again, until they agree. */
  doubt(): void
  /** Begins with CLUSTER_UNKNOWN; null while nothing is known to be wrong. */
  detail(): string | null
  stop(): void
}

const NEXT =
  'Nothing is forgotten and nothing is done. Point the controllers at the database and the cluster that belong together, or bring back what is missing'

type Wrong = { what: string; token: string }

const look = async ({ installation, caches, mirror, deletions, namespace }: TruthsDeps): Promise<Absence> => {
  await caches.synced
  await installation.find(({ kind, name, uid }) => {
    const object = caches.byKind.get(kind)?.get(keyOf({ namespace, name }))
    return object?.metadata.uid === uid
  })
  return absenceOf({ mirror, deletions, held: caches.byKind, namespace })
}

/** What is wrong between the two; null when nothing is. */
const compare = async (deps: TruthsDeps, here: string, clusterUid: string): Promise<Wrong | null> => {
  // there may be no definitions to list by
  if (clusterUid !== here) return { what: otherCluster(clusterUid, here), token: here }
  const { absent, known, isMass, digest } = await look(deps)
  if (!isMass) return null
  const what = `${absent.length} of ${known} known resources are absent in this cluster`
  return { what, token: `${here}/${digest}` }
}

/** All that is absent now is lost by a person's word, also where it is little: nothing of it is forgotten. */
const take = async (deps: TruthsDeps, here: string): Promise<void> => {
  const { installation, log, accept } = deps
  const { absent } = await look(deps)
  await installation.lose(absent)
  await installation.rebind(here)
  log.warn({ token: accept, lost: absent.length }, 'accepted: the database belongs to this cluster from now on')
}

const judge = async (deps: TruthsDeps): Promise<Disagreement | null> => {
  const { kube, installation, accept } = deps
  const here = await clusterUidOf(kube)
  const { clusterUid } = await installation.bind(here)
  const wrong = await compare(deps, here, clusterUid)
  if (wrong !== null && accept === wrong.token) {
    await take(deps, here)
    return null
  }
  const disagreement = wrong && {
    token: wrong.token,
    detail: `${wrong.what}. ${NEXT}; or accept it as it is: start the controllers with BOTTEGA_ACCEPT_CLUSTER=${wrong.token}`,
  }
  await installation.disagree(here, disagreement)
  return disagreement
}

export const makeTruths = (deps: TruthsDeps): Truths => {
  const { kube, namespace, log } = deps
  const againMs = deps.againMs ?? AGAIN_MS
  const stopped = new AbortController()
  let said: string | null = null
  let doubting = false
  /** Something went since the last look. */
  let isRung = false

  /** One line, one event, for each thing that is wrong. */
  const say = async (disagreement: Disagreement | null): Promise<void> => {
    const detail = disagreement && `CLUSTER_UNKNOWN: ${disagreement.detail}`
    if (detail === said) return
    said = detail
    deps.onUnknown(detail !== null)
    if (detail === null) {
      log.info('database and cluster agree')
      return
    }
    log.error({ code: 'CLUSTER_UNKNOWN', token: disagreement?.token }, detail)
    const object = await kube.get<AnyObject>(LEASE, { namespace, name: LEASE_NAME }).catch(() => null)
    const note = { kind: LEASE, type: 'Warning', reason: 'ClusterUnknown', action: 'Lead', message: detail } as const
    if (object) deps.events?.emit({ ...note, object })
  }

  const doubt = async (): Promise<void> => {
    do {
      isRung = false
      await judge(deps)
        .then(say)
        .catch((error) => {
          isRung = true
          log.warn({ err: error }, 'nobody can say whether the cluster is the right one')
        })
      await sleep(againMs, undefined, { signal: stopped.signal })
    } while (said !== null || isRung)
  }

  return {
    async agree(signal) {
      for (;;) {
        const disagreement = await judge(deps)
        signal.throwIfAborted()
        await say(disagreement)
        if (disagreement === null) return
        await sleep(againMs, undefined, { signal })
      }
    },
    doubt() {
      isRung = true
      if (doubting || stopped.signal.aborted) return
      doubting = true
      doubt()
        .catch(() => undefined) // stopped
        .finally(() => {
          doubting = false
        })
    },
    detail: () => said,
    stop: () => stopped.abort(),
  }
}
