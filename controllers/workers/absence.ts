/** What the database knows and the cluster does not hold. */
import { createHash } from 'node:crypto'
import { isMass } from '../../crds/kernel/absence.ts'
import { keyOf } from '../../crds/kernel/object.ts'
import type { AnyResource } from '../kinds/held.ts'
import type { Cache } from '../kube/watch.ts'
import type { Mirror } from '../store/mirror.ts'

export type Absent = { kind: string; name: string }
/** `digest` names exactly these. */
export type Absence = { absent: Absent[]; known: number; isMass: boolean; digest: string }

const DIGEST_CHARS = 12

/** After the first lists are in. Of one kind or of all together more than a few may be missing. */
export const absenceOf = async (
  mirror: Pick<Mirror, 'known' | 'unknown'>,
  held: ReadonlyMap<string, Pick<Cache<AnyResource>, 'list' | 'get'>>,
  namespace: string,
): Promise<Absence> => {
  const knownOf = await mirror.known()
  const absent: Absent[] = []
  let known = 0
  let isMassOfKind = false
  for (const [kind, cache] of held) {
    const uids = cache.list().map(({ metadata }) => metadata.uid)
    const unknown = await mirror.unknown(kind, uids)
    // One that was made anew under its name is there.
    const missing = unknown.filter((name) => cache.get(keyOf({ namespace, name })) === undefined)
    absent.push(...missing.map((name) => ({ kind, name })))
    known += knownOf.get(kind) ?? 0
    isMassOfKind ||= isMass(missing.length, knownOf.get(kind) ?? 0)
  }
  const names = absent.map(({ kind, name }) => `${kind}/${name}`).sort()
  const digest = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, DIGEST_CHARS)
  return { absent, known, isMass: isMassOfKind || isMass(absent.length, known), digest }
}
