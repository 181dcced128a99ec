/**
 * What would make database, cluster and key agree again, found by looking only: nothing is written here
 * (README, "When truths disagree"; hack/decisions/036).
 */

import { partsOfNumber } from '../../../crds/invoice/planning/recovery/behind.ts'
import {
  type Restoration,
  restorationOf,
  type Unrestorable,
} from '../../../crds/invoice/planning/recovery/restoration.ts'
import { type KnownUpTo, planSeries, type SeriesPlan } from '../../../crds/invoice/planning/recovery/series.ts'
import { DEFAULT_ISSUER } from '../../../crds/invoice/schema.ts'
import { identityFaults, type TruthFault } from '../../../crds/kernel/desire/absence.ts'
import type { RebuildPlan } from '../../../crds/kernel/desire/rebuild.ts'
import type { Kube } from '../../kube/kube.ts'
import type { Taking } from '../../runtime/epoch.ts'
import type { KnownNumbers } from '../../store/ledger/known.ts'
import type { Restore } from '../../store/ledger/restore.ts'
import { lookAtRebuild } from '../lost/rebuild.ts'
import type { Absence } from '../truths/absence.ts'
import { faultsOfLook, type JudgeDeps, type Looked, look, type Sight, see } from '../truths/judgement.ts'

const FALLBACK_ZONE = 'UTC'
/** Documents that are looked up at once. */
const LOOKS_AT_ONCE = 16

export type ReconcileDeps = Omit<JudgeDeps, 'accept' | 'known'> & {
  known: Pick<KnownNumbers, 'onRecord' | 'numbers' | 'ahead'>
  restore: Restore
  kube: Kube
  taking: Taking
  /** By the id of a series: numbers up to this one may have been given, a person says. */
  reserve: ReadonlyMap<string, number>
}

export type ReconcilePlan = {
  sight: Sight
  /** What disagrees; none: there is nothing to do, unless numbers are to be set aside. */
  wrongs: TruthFault[]
  series: SeriesPlan[]
  restorations: Restoration[]
  absence: Absence
  /** What of the cluster can be made again; null where the database is the older side, and may not know what was deleted since. */
  rebuild: RebuildPlan | null
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

/** What resources show, and what was kept because one of them had shown it. */
const knownUpTo = async ({ known }: ReconcileDeps, behind: Looked['behind']): Promise<KnownUpTo[]> => {
  const shown = behind.flatMap(({ invoice: { spec, status } }) =>
    [status?.number ?? '', ...(status?.creditNotes ?? []).map(({ number }) => number)].flatMap((number) => {
      const parts = partsOfNumber(number)
      return parts ? [{ account: spec.account, ...parts }] : []
    }),
  )
  return [...shown, ...(await known.ahead(await known.numbers()))]
}

/** Only looks. @throws KubeError, DatabaseUnavailable */
export const planReconcile = async (deps: ReconcileDeps): Promise<ReconcilePlan> => {
  const sight = await see(deps)
  const faults = identityFaults(sight.here, sight.marks, sight.kept)
  const looked = await look(deps)
  const { behind, absence } = looked
  const found = await restorationsOf(deps, behind)
  const restorations = found.filter((one): one is Restoration => !isBlocked(one))
  const upTo = await knownUpTo(deps, behind)
  const accounts = [
    ...upTo,
    ...restorations,
    ...[...deps.reserve.keys()].map((id) => ({ account: id.split('/')[0] ?? '' })),
  ]
  const entries = restorations.flatMap((one) => one.entries)
  const { series, blocked } = planSeries({
    series: await deps.restore.series([...new Set(accounts.map(({ account }) => account))]),
    entries,
    held: await deps.restore.held(entries.map(({ resource }) => resource)),
    known: upTo,
    reserve: deps.reserve,
  })
  const wrongs = [...faults, ...faultsOfLook(looked, sight.here)]
  // a few that were lost are no disagreement, and are missed by somebody all the same
  const isConcerned =
    wrongs.length === 0 || wrongs.some(({ code }) => code === 'CLUSTER_UNKNOWN' || code === 'CLUSTER_BEHIND')
  const isOtherKey = faults.some(({ code }) => code === 'KEY_UNKNOWN')
  return {
    sight,
    wrongs,
    series,
    restorations,
    absence,
    rebuild: isConcerned && !isOtherKey ? await lookAtRebuild({ ...deps, pg: deps.taking.pg }) : null,
    blocked: [
      ...(isOtherKey
        ? ['nothing can be mended under another key: give BOTTEGA_SECRET_KEY the one that belongs to it']
        : []),
      ...found.filter(isBlocked).map(({ name, number, blocked: why }) => `${name} (${number}): ${why}`),
      ...blocked,
    ],
  }
}

/** `Kind/name` of a resource. */
export const keyOf = ({ kind, name }: { kind: string; name: string }): string => `${kind}/${name}`

/** Nothing disagrees, nothing was lost, and no number is to be set aside. */
export const isIdle = ({ wrongs, series, rebuild }: ReconcilePlan): boolean =>
  wrongs.length === 0 && series.length === 0 && (rebuild?.stages.length ?? 0) === 0
