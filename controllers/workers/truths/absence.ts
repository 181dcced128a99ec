/** What the database knows and the cluster does not hold. */
import { createHash } from 'node:crypto'
import { isMass } from '../../../crds/kernel/desire/absence.ts'
import { keyOf } from '../../../crds/kernel/object.ts'
import type { AnyResource } from '../../kinds/held.ts'
import type { Strays } from '../../kube/tenants/strays.ts'
import type { Cache } from '../../kube/watch.ts'
import type { DeletionReader } from '../../store/ledger/desires.ts'
import type { Mirror } from '../../store/mirror.ts'

export type Absent = { kind: string; name: string }
/** `deleted` are those whose deletion is on record, and are not counted. `digest` names exactly the absent ones. */
export type Absence = { absent: Absent[]; deleted: Absent[]; known: number; isMass: boolean; digest: string }

export type AbsenceDeps = {
  mirror: Pick<Mirror, 'known' | 'unknown'>
  deletions: DeletionReader
  held: ReadonlyMap<string, Pick<Cache<AnyResource>, 'list' | 'get'>>
  namespace: string
  /** They are there, though nobody works on them where they stand. */
  strays?: Pick<Strays, 'ofKind'> | undefined
}

const DIGEST_CHARS = 12

/** After the first lists are in. Of one kind or of all together more than a few may be missing. */
export const absenceOf = async ({ mirror, deletions, held, namespace, strays }: AbsenceDeps): Promise<Absence> => {
  const knownOf = await mirror.known()
  const absent: Absent[] = []
  const deleted: Absent[] = []
  let known = 0
  let isMassOfKind = false
  const looked = [...held].map(async ([kind, cache]) => {
    const standing = [...cache.list(), ...(strays?.ofKind(kind) ?? []).map(({ object }) => object)]
    const uids = standing.map(({ metadata }) => metadata.uid ?? '')
    const unknown = await mirror.unknown(kind, uids)
    // One that was made anew under its name is there.
    const missing = unknown.filter((name) => cache.get(keyOf({ namespace, name })) === undefined)
    return { kind, missing, onRecord: await deletions.deleted(kind, missing) }
  })
  for (const { kind, missing, onRecord } of await Promise.all(looked)) {
    const unexplained = missing.filter((name) => !onRecord.has(name))
    deleted.push(...missing.filter((name) => onRecord.has(name)).map((name) => ({ kind, name })))
    absent.push(...unexplained.map((name) => ({ kind, name })))
    known += knownOf.get(kind) ?? 0
    isMassOfKind ||= isMass(unexplained.length, knownOf.get(kind) ?? 0)
  }
  const names = absent.map(({ kind, name }) => `${kind}/${name}`).sort()
  const digest = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, DIGEST_CHARS)
  return { absent, deleted, known, isMass: isMassOfKind || isMass(absent.length, known), digest }
}
