/**
 * One look at whether database, cluster and key fit together: the marks of each side, then what each knows of the other's things.
 * Nothing is written where the place or the key is a stranger's (hack/decisions/030, 036).
 */

import { INVOICE } from '../../../crds/invoice/kind.ts'
import { formatSeq } from '../../../crds/invoice/planning/recovery/series.ts'
import { type Here, identityFaults, type LeaseMarks, type TruthFault } from '../../../crds/kernel/desire/absence.ts'
import { keyOf } from '../../../crds/kernel/object.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import { isNotFound } from '../../base/errors.ts'
import type { Keys } from '../../base/keys.ts'
import type { Log } from '../../base/log.ts'
import type { Caches } from '../../kinds/held.ts'
import { findAhead, findBehind } from '../../kinds/invoice/behind.ts'
import type { Kube } from '../../kube/kube.ts'
import { type AnyObject, LEASE } from '../../kube/objects.ts'
import { clusterUidOf } from '../../kube/witness.ts'
import { marksOf } from '../../runtime/epoch.ts'
import type { Bound, Disagreement, Installation } from '../../store/installation/installation.ts'
import type { DeletionReader } from '../../store/ledger/desires.ts'
import type { KnownNumber, KnownNumbers, LedgerGap } from '../../store/ledger/known.ts'
import type { Mirror } from '../../store/mirror.ts'
import { type Absence, type AbsenceDeps, absenceOf } from './absence.ts'

export type JudgeDeps = {
  kube: Pick<Kube, 'get'>
  namespace: string
  /** Of the Lease, when that is another one. */
  home?: string | undefined
  keys: Pick<Keys, 'installation'>
  installation: Installation
  mirror: Pick<Mirror, 'known' | 'unknown'>
  known: Pick<KnownNumbers, 'onRecord' | 'ahead' | 'numbers' | 'gaps'>
  deletions: DeletionReader
  caches: Pick<Caches, 'of' | 'byKind' | 'synced' | 'served' | 'unserved'>
  strays?: AbsenceDeps['strays']
  /** The token of a disagreement that a person accepts; undefined: none. */
  accept: string | undefined
  log: Log
}

/** The marks of both sides, from between two changes of leaders. `kept` is null while nobody led by this database. */
export type Sight = { here: Here; marks: LeaseMarks; kept: Bound | null }

const AGAINST_CHANGES = 5

/** @throws KubeError, DatabaseUnavailable */
export const see = async ({
  kube,
  namespace,
  home = namespace,
  keys,
  installation,
}: Omit<JudgeDeps, 'accept' | 'log'>): Promise<Sight> => {
  const lease = () =>
    kube.get<AnyObject>(LEASE, { namespace: home, name: LEASE_NAME }).then(marksOf, (error) => {
      if (isNotFound(error)) return { installation: null, epoch: 0 }
      throw error
    })
  const [clusterUid, first] = await Promise.all([clusterUidOf(kube), lease()])
  const here = { clusterUid, namespace, keyCheck: keys.installation }
  let marks = first
  for (let left = AGAINST_CHANGES; ; left--) {
    const kept = await installation.read()
    const after = await lease()
    if (after.epoch === marks.epoch || left <= 0) return { here, marks: after, kept }
    marks = after
  }
}

/** `behind`: resources that know of more than the database; `ahead`: of which series; `gaps`: in what it does not fit itself. */
export type Looked = {
  absence: Absence
  behind: Awaited<ReturnType<typeof findBehind>>
  ahead: KnownNumber[]
  gaps: LedgerGap[]
}

/** What each side knows that the other does not have. */
export const look = async ({
  known,
  ...deps
}: Pick<JudgeDeps, 'caches' | 'mirror' | 'deletions' | 'known' | 'namespace' | 'strays'>): Promise<Looked> => {
  const { caches } = deps
  await caches.synced
  const [absence, behind, ahead, gaps] = await Promise.all([
    absenceOf({ ...deps, held: caches.served() }),
    findBehind(known, caches.of(INVOICE)),
    findAhead(known, caches.of(INVOICE)),
    known.gaps(),
  ])
  return { absence, behind, ahead, gaps }
}

const NEXT: Record<TruthFault['code'], string> = {
  CLUSTER_UNKNOWN:
    'Nothing is forgotten and nothing is done. Point the controllers at the database and the cluster that belong together, or bring back what is missing',
  CLUSTER_BEHIND: 'Nobody leads and nothing is done. Put back the newest copy of the cluster',
  LEDGER_BEHIND: 'Nobody leads: nothing is numbered or mailed. Put back the newest copy of the database',
  KEY_UNKNOWN: 'Nobody leads and nothing is written. Give the processes the key that belongs to this database',
}
const MEND = 'or look at what can be mended (hack/reconcile --plan, in a cluster: setup.ts reconcile --plan)'

export const sentenceOf = ({ code, token, what }: TruthFault): Disagreement => {
  const accept =
    token === null ? '' : `; or accept it as it is: start the controllers with BOTTEGA_ACCEPT_CLUSTER=${token}`
  const mend = code === 'KEY_UNKNOWN' ? '' : `, ${MEND}`
  return { code, token, detail: `${what}. ${NEXT[code]}${mend}${accept}` }
}

const knowingMore = ({ length }: Looked['behind']): string =>
  length === 0 ? '' : `; ${length} resources know of more than the database`

const gapWords = ({ gap, series, account, number, has, ...of }: LedgerGap): string => {
  if (gap === 'counted') return `series ${series} has given ${number}, and counts ${has}`
  if (gap === 'headed')
    return `the history has a head in which series ${series} had come to ${number}, and it counts ${has}`
  const whose = account === null ? '' : ` of account ${account}`
  return `a document${whose} is called ${number}, and ${'resource' in of ? of.resource : 'it'} has no number in the register`
}

const moreOf = (count: number): string => (count > 1 ? `; ${count} of that sort` : '')

/** Numbers are known that the register has not, or a series would give again: the resource first, as it says the most. */
const behindOf = ({ behind, ahead, gaps }: Omit<Looked, 'absence'>): TruthFault | null => {
  const [resource] = behind
  const [number] = ahead
  const [gap] = gaps
  const fault = (what: string): TruthFault => ({ code: 'LEDGER_BEHIND', what, token: null })
  if (resource) return fault(`${resource.detail}${knowingMore(behind)}`)
  if (gap) return fault(`${gapWords(gap)}: parts of the database are older than others${moreOf(gaps.length)}`)
  if (!number) return null
  const known = formatSeq(number)
  const what = `${known} of account ${number.account} is known to have been given, and its series has not come to it`
  return fault(`${what}${moreOf(ahead.length)}`)
}

const absentOf = ({ absent, known, isMass, digest }: Absence, { clusterUid }: Here): TruthFault | null =>
  isMass
    ? {
        code: 'CLUSTER_UNKNOWN',
        what: `${absent.length} of ${known} known resources are absent in this cluster`,
        token: `${clusterUid}/${digest}`,
      }
    : null

/** What one side knows that the other does not, as it is said. */
export const faultsOfLook = (looked: Looked, here: Here): TruthFault[] =>
  [behindOf(looked), absentOf(looked.absence, here)].filter((one) => one !== null)

/** All that is absent now is lost by a person's word, also where it is little: nothing of it is forgotten. */
export const acceptPlace = async (
  deps: Pick<JudgeDeps, 'installation' | 'caches' | 'mirror' | 'deletions' | 'namespace' | 'strays'>,
  here: Here,
): Promise<number> => {
  const { installation, caches } = deps
  await caches.synced
  const { absent } = await absenceOf({ ...deps, held: caches.served() })
  await installation.lose(absent)
  await installation.rebind(here)
  return absent.length
}

/** `behind`: the resources that know of more than the database, as far as it is this place's to say so. */
export type TruthVerdict = { wrong: TruthFault | null; behind: Looked['behind'] }

/** The database is this place's: says so where it does not yet, and what was lost and is there again is lost no more. */
const settleIn = async (
  { installation, caches, namespace }: Pick<JudgeDeps, 'installation' | 'caches' | 'namespace'>,
  { here, kept }: Pick<Sight, 'here' | 'kept'>,
): Promise<void> => {
  if (kept === null || kept.namespace === null || kept.keyCheck === null) await installation.bind(here)
  await installation.find(
    ({ kind, name, uid }) => caches.byKind.get(kind)?.get(keyOf({ namespace, name }))?.metadata.uid === uid,
  )
}

/** Nobody leads: it is written where the api reads it, unless the database or the key is somebody else's. */
const refuse = async (
  deps: JudgeDeps,
  { here, kept }: Pick<Sight, 'here' | 'kept'>,
  { fault, faults }: { fault: TruthFault; faults: readonly TruthFault[] },
): Promise<TruthVerdict> => {
  const { installation } = deps
  if (kept === null) await installation.disagreeUnbound(sentenceOf(fault))
  const isOurs = faults.every(({ code }) => code === 'LEDGER_BEHIND' || code === 'CLUSTER_BEHIND')
  if (!isOurs) return { wrong: fault, behind: [] }
  const { behind } = await look(deps)
  const wrong = { ...fault, what: `${fault.what}${knowingMore(behind)}` }
  if (kept !== null) await installation.disagree(here, sentenceOf(wrong))
  return { wrong, behind }
}

/** Looks, binds a database that belongs nowhere yet, and takes what a person has accepted. @throws KubeError, DatabaseUnavailable */
export const judge = async (deps: JudgeDeps): Promise<TruthVerdict> => {
  const { installation, accept, log } = deps
  const { here, marks, kept } = await see(deps)
  const isAccepted = ({ token }: TruthFault) => token !== null && token === accept
  const faults = identityFaults(here, marks, kept)
  const fault = faults.find((one) => !isAccepted(one))
  if (fault) return refuse(deps, { here, kept }, { fault, faults })
  if (faults.length === 0) await settleIn(deps, { here, kept })
  const looked = await look(deps)
  const { absence, behind } = looked
  // what is absent from a place that a person has just named is lost by that word
  const wrong = behindOf(looked) ?? (faults.length > 0 ? null : absentOf(absence, here))
  if (wrong !== null && !isAccepted(wrong)) {
    if (faults.length === 0) await installation.disagree(here, sentenceOf(wrong))
    return { wrong, behind }
  }
  if (wrong !== null || faults.length > 0) {
    const lost = await acceptPlace(deps, here)
    log.warn({ token: accept, lost }, 'accepted: the database belongs to this cluster from now on')
  } else await installation.disagree(here, null)
  return { wrong: null, behind: [] }
}
