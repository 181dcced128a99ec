/**
 * What would make database, cluster and key agree again, found by looking only: nothing is written here
 * (README, "When truths disagree"; hack/decisions/036).
 */

import { partsOfNumber } from '../../../crds/invoice/planning/recovery/behind.ts'
import {
  type Restoration,
  type RestoredEntry,
  restorationOf,
  type Unrestorable,
} from '../../../crds/invoice/planning/recovery/restoration.ts'
import {
  type CutSeries,
  type KnownUpTo,
  planSeries,
  type SeriesPlan,
} from '../../../crds/invoice/planning/recovery/series.ts'
import { regained } from '../../../crds/invoice/planning/recovery/unnumbered.ts'
import { DEFAULT_ISSUER } from '../../../crds/invoice/schema.ts'
import { identityFaults, type TruthFault } from '../../../crds/kernel/desire/absence.ts'
import type { RebuildPlan } from '../../../crds/kernel/desire/rebuild.ts'
import type { Kube } from '../../kube/kube.ts'
import type { Taking } from '../../runtime/epoch.ts'
import { makeWaiting, type WaitingCounts } from '../../store/ledger/quarantine.ts'
import type { Restore } from '../../store/ledger/restore.ts'
import { lookAtRebuild } from '../lost/rebuild.ts'
import type { Absence } from '../truths/absence.ts'
import { faultsOfLook, type JudgeDeps, type Looked, look, type Sight, see } from '../truths/judgement.ts'

const FALLBACK_ZONE = 'UTC'
/** Documents that are looked up at once. */
const LOOKS_AT_ONCE = 16

export type ReconcileDeps = Omit<JudgeDeps, 'accept'> & {
  restore: Restore
  kube: Kube
  taking: Taking
  /** By the id of a series: numbers up to this one may have been given, a person says. */
  reserve: ReadonlyMap<string, number>
  /** `Kind/name` of those that were taken for deleted while nobody looked, and that a person wants back. */
  wanted: ReadonlySet<string>
}

export type ReconcilePlan = {
  sight: Sight
  /** What disagrees; none: there is nothing to do, unless numbers are to be set aside. */
  wrongs: TruthFault[]
  /** Those that count less than they have entries, up to `last`. */
  recounts: CutSeries[]
  series: SeriesPlan[]
  restorations: Restoration[]
  absence: Absence
  /** What waits to be sent in a database that is the older side, and may have been sent since. */
  waiting: WaitingCounts
  /** What of the cluster can be made again; null where the database is the older side, and may not know what was deleted since. */
  rebuild: RebuildPlan | null
  /** Those that were taken for deleted while nobody looked, and are made again only where a person names them. */
  forgotten: { kind: string; name: string }[]
  /** Why nothing of it can be done, each with what to do. */
  blocked: string[]
}

const isBlocked = (one: Restoration | Unrestorable): one is Unrestorable => 'blocked' in one

const restorationsOf = async (
  deps: ReconcileDeps,
  behind: Looked['behind'],
): Promise<(Restoration | Unrestorable)[]> => {
  const zones = await deps.restore.zones([...new Set(behind.map(({ invoice }) => invoice.spec.account))])
  const found: (Restoration | Unrestorable)[] = []
  for (let at = 0; at < behind.length; at += LOOKS_AT_ONCE) {
    const some = behind.slice(at, at + LOOKS_AT_ONCE).map(async ({ invoice }) => {
      const { spec, status, metadata } = invoice
      const issuer = spec.test ? DEFAULT_ISSUER : (status?.issuerId ?? DEFAULT_ISSUER)
      const zone = zones.get(`${spec.account}/${issuer}`) ?? FALLBACK_ZONE
      return restorationOf(invoice, await deps.restore.sideOf(metadata.name), zone)
    })
    found.push(...(await Promise.all(some)))
  }
  return found
}

/** What resources and the heads of the history show, and what was kept because one of them had shown it. */
const knownUpTo = ({ behind, ahead, gaps }: Looked): KnownUpTo[] => {
  const shown = behind.flatMap(({ invoice: { spec, status } }) =>
    [status?.number ?? '', ...(status?.creditNotes ?? []).map(({ number }) => number)].flatMap((number) => {
      const parts = partsOfNumber(number)
      return parts ? [{ account: spec.account, ...parts }] : []
    }),
  )
  return [...shown, ...ahead, ...gaps.flatMap((one) => (one.gap === 'headed' ? [one] : []))]
}

/** What documents have that the ledger holds, beside what resources have. */
const regainedOf = ({ gaps }: Looked, entries: readonly RestoredEntry[]) => {
  const given = new Set(entries.map(({ resource }) => resource))
  const found = gaps.flatMap((one) => (one.gap === 'unnumbered' && !given.has(one.resource) ? [regained(one)] : []))
  return {
    regained: found.filter((one): one is RestoredEntry => !('blocked' in one)),
    lacking: found.flatMap((one) => ('blocked' in one ? [one.blocked] : [])),
  }
}

/** Those that are to count again what they have entries of. */
const recountsOf = ({ gaps }: Looked): CutSeries[] =>
  gaps.flatMap((one) =>
    one.gap === 'counted' ? [{ id: one.series, account: one.account, prefix: one.prefix, last: one.seq }] : [],
  )

/** How the registers go on, once they count what they have. */
const registersOf = async (deps: ReconcileDeps, looked: Looked, restorations: readonly Restoration[]) => {
  const known = knownUpTo(looked)
  const own = restorations.flatMap((one) => one.entries)
  const { regained: ofDocuments, lacking } = regainedOf(looked, own)
  const entries = [...own, ...ofDocuments]
  const recounts = recountsOf(looked)
  const reserved = [...deps.reserve.keys()].map((id) => ({ account: id.split('/')[0] ?? '' }))
  const accounts = [...known, ...restorations, ...ofDocuments, ...recounts, ...reserved].map(({ account }) => account)
  const counted = new Map(recounts.map((one) => [one.id, one]))
  const begun = (await deps.restore.series([...new Set(accounts)])).filter(({ id }) => !counted.has(id))
  const { series, blocked } = planSeries({
    series: [...begun, ...recounts],
    entries,
    held: await deps.restore.held(entries.map(({ resource }) => resource)),
    known,
    reserve: deps.reserve,
  })
  return { recounts, series, blocked: [...lacking, ...blocked] }
}

/** Why one that is wanted back is not made, with what to do. */
const notMade = ({ wanted }: ReconcileDeps, rebuild: RebuildPlan | null): string[] => {
  const made = new Set(rebuild?.stages.flat().map(keyOf))
  return [...wanted].flatMap((key) => {
    if (made.has(key)) return []
    if (rebuild === null)
      return [`${key} is not made again while the truths disagree: reconcile first, without --restore`]
    const left = rebuild.left.find((one) => keyOf(one) === key)
    return [`${key} cannot be made again: ${left?.detail ?? 'nothing is kept of it'}; leave it out of --restore`]
  })
}

/** Only looks. @throws KubeError, DatabaseUnavailable */
export const planReconcile = async (deps: ReconcileDeps): Promise<ReconcilePlan> => {
  const sight = await see(deps)
  const faults = identityFaults(sight.here, sight.marks, sight.kept)
  const looked = await look(deps)
  const { behind, absence } = looked
  const found = await restorationsOf(deps, behind)
  const restorations = found.filter((one): one is Restoration => !isBlocked(one))
  const { recounts, series, blocked } = await registersOf(deps, looked, restorations)
  const wrongs = [...faults, ...faultsOfLook(looked, sight.here)]
  // a few that were lost are no disagreement, and are missed by somebody all the same
  const isConcerned =
    wrongs.length === 0 || wrongs.some(({ code }) => code === 'CLUSTER_UNKNOWN' || code === 'CLUSTER_BEHIND')
  const isOlder = wrongs.some(({ code }) => code === 'LEDGER_BEHIND')
  const isOtherKey = faults.some(({ code }) => code === 'KEY_UNKNOWN')
  const rebuild = isConcerned && !isOtherKey ? await lookAtRebuild({ ...deps, pg: deps.taking.pg }, deps.wanted) : null
  return {
    sight,
    wrongs,
    recounts,
    series,
    restorations,
    absence,
    waiting: isOlder ? await makeWaiting(deps.taking).counts() : [],
    rebuild,
    forgotten: rebuild?.left.filter(({ why }) => why === 'absent') ?? [],
    blocked: [
      ...(isOtherKey
        ? ['nothing can be mended under another key: give BOTTEGA_SECRET_KEY the one that belongs to it']
        : []),
      ...found.filter(isBlocked).map(({ name, number, blocked: why }) => `${name} (${number}): ${why}`),
      ...blocked,
      ...notMade(deps, rebuild),
    ],
  }
}

/** `Kind/name` of a resource. */
export const keyOf = ({ kind, name }: { kind: string; name: string }): string => `${kind}/${name}`

/** Nothing disagrees, nothing was lost, and no number is to be set aside. */
export const isIdle = ({ wrongs, series, rebuild }: ReconcilePlan): boolean =>
  wrongs.length === 0 && series.length === 0 && (rebuild?.stages.length ?? 0) === 0
