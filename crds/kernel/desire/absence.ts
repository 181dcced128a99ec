/**
 * Whether truths fit together (rules/platform.md#truths-that-disagree). What is absent was not deleted (#absence): where much of
 * what was known is not there, the place is the wrong one, or was lost, and nothing of it is forgotten; a few are taken for
 * what was deleted while nobody looked (hack/decisions/030). By which marks database, cluster and key know one another, and
 * which of them is behind: hack/decisions/036.
 */

/** So many may be absent whatever their share. */
export const ABSENT_MAX = 20
/** Of what was known. */
export const ABSENT_SHARE = 0.1

export const isMass = (absent: number, known: number): boolean => absent > ABSENT_MAX && absent > known * ABSENT_SHARE

/** Where a process stands, and what its secret key shows of itself. */
export type Here = { clusterUid: string; namespace: string; keyCheck: string }
/** What the Lease carries; `installation` is null on one that nobody led by yet, or that was made anew. */
export type LeaseMarks = { installation: string | null; epoch: number }
/**
 * What the database keeps. `epoch` is the last that was taken, `keptEpoch` the last that the Lease was seen to carry. Namespace and
 * key are null in a database of before, until its next leader.
 */
export type KeptMarks = {
  id: string
  clusterUid: string
  namespace: string | null
  keyCheck: string | null
  epoch: number
  keptEpoch: number
  /** A reconcile was begun, and has not come to its end. */
  isReconciling: boolean
}

export type TruthCode = 'CLUSTER_UNKNOWN' | 'CLUSTER_BEHIND' | 'LEDGER_BEHIND' | 'KEY_UNKNOWN'
/** `token` is what a person says to accept exactly this; null where saying so would mend nothing. */
export type TruthFault = { code: TruthCode; what: string; token: string | null }

/** Why this is not the place that the database belongs to; null when it is. */
export const strangerTo = (
  kept: Pick<KeptMarks, 'clusterUid' | 'namespace'>,
  here: Omit<Here, 'keyCheck'>,
): TruthFault | null => {
  const { clusterUid, namespace } = here
  if (kept.clusterUid !== clusterUid) {
    const what = `the database belongs to cluster ${kept.clusterUid}, and this is cluster ${clusterUid}`
    return { code: 'CLUSTER_UNKNOWN', what, token: clusterUid }
  }
  if (kept.namespace === null || kept.namespace === namespace) return null
  const what = `the database belongs to namespace ${kept.namespace}, and this is namespace ${namespace}`
  return { code: 'CLUSTER_UNKNOWN', what, token: `${clusterUid}/${namespace}` }
}

/** Why what is sealed cannot be opened here; null when it can. */
export const keyFault = (kept: Pick<KeptMarks, 'keyCheck'>, { keyCheck }: Pick<Here, 'keyCheck'>): TruthFault | null =>
  kept.keyCheck === null || kept.keyCheck === keyCheck
    ? null
    : { code: 'KEY_UNKNOWN', what: 'the database was sealed with another BOTTEGA_SECRET_KEY', token: null }

/** Which side the marks of the leaders show to be older; null when neither is. */
const olderSide = ({ epoch, keptEpoch }: KeptMarks, marks: LeaseMarks): TruthFault | null => {
  if (marks.epoch > epoch) {
    const what = `the cluster knows a leader of epoch ${marks.epoch}, and the database none after ${epoch}: an older copy of it was put back`
    return { code: 'LEDGER_BEHIND', what, token: null }
  }
  // one that was made anew has lost its marks, and no more
  if (marks.installation === null || marks.epoch >= keptEpoch) return null
  const what = `the database knows a leader of epoch ${keptEpoch}, and the cluster none after ${marks.epoch}: an older copy of the cluster was put back`
  return { code: 'CLUSTER_BEHIND', what, token: null }
}

/**
 * All that the marks say, the gravest first; none when they fit. A Lease without marks was made anew, and takes those of the
 * database; a database without any is a new one, unless the cluster knows better.
 * @param kept null: nobody led by this database yet
 */
export const identityFaults = (here: Here, marks: LeaseMarks, kept: KeptMarks | null): TruthFault[] => {
  if (kept === null) {
    if (marks.installation === null) return []
    const what = `the database is empty, and this is installation ${marks.installation} with leaders up to epoch ${marks.epoch}`
    return [{ code: 'LEDGER_BEHIND', what, token: null }]
  }
  const stranger = strangerTo(kept, here)
  const isOwnLease = marks.installation === null || marks.installation === kept.id
  const another: TruthFault = {
    code: 'CLUSTER_UNKNOWN',
    what: `the database is of installation ${kept.id}, and this is installation ${marks.installation}`,
    token: `${here.clusterUid}/${marks.installation}`,
  }
  const place = stranger ?? (isOwnLease ? null : another)
  const side = isOwnLease ? olderSide(kept, marks) : null
  const unfinished: TruthFault | null = kept.isReconciling
    ? { code: 'LEDGER_BEHIND', what: 'a reconcile was begun and has not come to its end: run it again', token: null }
    : null
  return [place, keyFault(kept, here), side, unfinished].filter((one) => one !== null)
}
