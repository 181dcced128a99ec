/**
 * What of the kept desires is to be made in a cluster again, in which order, and what is not, and why. Pure; the hands are
 * controllers/workers/lost/rebuild.ts.
 */
import { belongsTo } from '../fields.ts'
import { GROUP, VERSION } from '../object.ts'
import type { KeptDesire } from './desire.ts'

/** Those that others name come first; the rest follows in any order. */
const FIRST: readonly string[] = ['Account', 'Host']

type Named = Pick<KeptDesire, 'kind' | 'name'>
/** Of what is kept, how its resource went as far as anybody knows: `asked` over REST, `seen` to go, or taken for deleted while nobody looked. */
export type Candidate = Named & Pick<KeptDesire, 'account'> & { deletion: 'asked' | 'seen' | 'absent' | null }
/** What the cluster holds under a name. */
export type Occupant = { uid: string; account: string | null }

export type RebuiltObject = {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: unknown
}
export type Left = {
  kind: string
  name: string
  /** `there`: nothing is to be done. `absent`: made only where a person names it. */
  why: 'there' | 'deleted' | 'absent' | 'taken' | 'kind unknown'
  detail: string
}
/** `stages` are made one after the other, what is in one in any order. */
export type RebuildPlan = { stages: Named[][]; left: Left[] }

export type RebuildGiven = {
  candidates: readonly Candidate[]
  /** By kind and name; a kind that is missing here has no definition in the cluster. */
  held: ReadonlyMap<string, ReadonlyMap<string, Occupant>>
  /** `Kind/name` of those that were taken for deleted, which a person wants back all the same. */
  wanted?: ReadonlySet<string>
}

const leftOf = (one: Candidate, { held, wanted }: RebuildGiven): Left | null => {
  const { kind, name, account, deletion } = one
  const left = (why: Left['why'], detail: string): Left => ({ kind, name, why, detail })
  const ofKind = held.get(kind)
  if (!ofKind) return left('kind unknown', `the cluster has no definition of ${kind}; apply the definitions first`)
  const there = ofKind.get(name)
  if (there) {
    const isOthers = there.account !== null && !belongsTo(there, account)
    return isOthers
      ? left('taken', `the name is ${there.account}'s now; delete that one, and ask again`)
      : left('there', 'stands in the cluster')
  }
  if (deletion === 'seen' || deletion === 'asked') return left('deleted', 'its deletion is on record')
  if (deletion === 'absent' && !wanted?.has(`${kind}/${name}`)) {
    return left('absent', 'was not there when somebody began to lead, and taken for deleted; name it to have it back')
  }
  return null
}

/** As it was asked for last, under its name. What is empty is left out. */
export const objectOf = (
  { kind, name, labels, annotations, spec }: Pick<KeptDesire, 'kind' | 'name' | 'labels' | 'annotations' | 'spec'>,
  namespace: string,
): RebuiltObject => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  metadata: {
    name,
    namespace,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  },
  spec,
})

/** @returns the same for the same input, whatever its order */
export const planRebuild = (given: RebuildGiven): RebuildPlan => {
  const ordered = [...given.candidates].sort((a, b) =>
    a.kind === b.kind ? (a.name < b.name ? -1 : 1) : a.kind < b.kind ? -1 : 1,
  )
  const left: Left[] = []
  const made: Named[] = []
  for (const one of ordered) {
    const why = leftOf(one, given)
    if (why) left.push(why)
    else made.push({ kind: one.kind, name: one.name })
  }
  const stages = [
    ...FIRST.map((first) => made.filter(({ kind }) => kind === first)),
    made.filter(({ kind }) => !FIRST.includes(kind)),
  ]
  return { stages: stages.filter((stage) => stage.length > 0), left }
}
