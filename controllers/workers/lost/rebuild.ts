/**
 * Makes in the cluster again what was lost, from what is kept of it (crds/kernel/desire/rebuild.ts decides what). Safe to kill and
 * to repeat: each resource is one create under its own name, and one that stands there is left as it is. Who leads finds
 * each of them by its name, account and uid as what it was before: the same number, no mail, the same rows.
 */
import type { KeptDesire } from '../../../crds/kernel/desire/desire.ts'
import { type Occupant, objectOf, planRebuild, type RebuildPlan } from '../../../crds/kernel/desire/rebuild.ts'
import type { Kind } from '../../../crds/kernel/kind.ts'
import type { Resource } from '../../../crds/kernel/object.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { isAlreadyExists, isKindUnknown, KubeError } from '../../base/errors.ts'
import type { Kube } from '../../kube/kube.ts'
import { type KeptReader, makeKeptReader } from '../../store/ledger/desires.ts'
import type { Pg } from '../../store/pg/pg.ts'
import type { AbsenceDeps } from '../truths/absence.ts'

/** Creates under way at once, and desires that are read at once. */
const AT_ONCE = 32
const READ_AT_ONCE = 500
const LIST_LIMIT = 500

export type RebuildDeps = {
  pg: Pg
  /** Of somebody who may create all kinds, those that need an approval approved: an administrator. */
  kube: Pick<Kube, 'list' | 'create'>
  namespace: string
  /** They stand, and are not made once more. */
  strays?: AbsenceDeps['strays']
  /** For tests. */
  kinds?: readonly Kind[]
}

/** A resource that the cluster refused; all others were made nevertheless. */
export type NotMade = { kind: string; name: string; detail: string }
export type Rebuilt = { made: number; stood: number; refused: NotMade[] }

/** Null where the cluster has no definition of the kind. */
const heldOf = async ({ kube, namespace, strays }: RebuildDeps, kind: Kind): Promise<Map<string, Occupant> | null> => {
  const held = new Map<string, Occupant>()
  for (let next = ''; ; ) {
    const paging = { limit: LIST_LIMIT, ...(next && { continue: next }) }
    const page = await kube
      .list<Resource<{ account?: string }>>(kind, { namespace, ...paging })
      .catch((error: unknown) => {
        if (isKindUnknown(error)) return null
        throw error
      })
    if (page === null) return null
    for (const { metadata, spec } of page.items) {
      held.set(metadata.name, { uid: metadata.uid, account: spec.account ?? null })
    }
    next = page.continue
    if (next === '') break
  }
  for (const { object } of strays?.ofKind(kind.kind) ?? []) {
    const { metadata, spec } = object as Resource<{ account?: string }>
    if (!held.has(metadata.name)) held.set(metadata.name, { uid: metadata.uid, account: spec.account ?? null })
  }
  return held
}

/**
 * Looks, and changes nothing.
 * @param wanted `Kind/name` of those that were taken for deleted while nobody looked, and are wanted back
 */
export const lookAtRebuild = async (deps: RebuildDeps, wanted?: ReadonlySet<string>): Promise<RebuildPlan> => {
  const held = new Map<string, Map<string, Occupant>>()
  for (const kind of deps.kinds ?? KINDS) {
    const found = await heldOf(deps, kind)
    if (found) held.set(kind.kind, found)
  }
  const candidates = await makeKeptReader(deps).candidates()
  return planRebuild({ candidates, held, ...(wanted && { wanted }) })
}

const make = async ({ kube, namespace, kinds = KINDS }: RebuildDeps, desire: KeptDesire, done: Rebuilt) => {
  const { kind: name } = desire
  const kind = kinds.find((one) => one.kind === name)
  if (!kind) throw new Error(`there is no kind ${name}`)
  try {
    await kube.create(kind, objectOf(desire, namespace))
    done.made += 1
  } catch (error) {
    if (isAlreadyExists(error)) {
      done.stood += 1
      return
    }
    // one that rules forbid now is for a person to look at; whatever else went wrong ends this, to be repeated
    if (!(error instanceof KubeError) || error.status < 400 || error.status >= 500 || error.status === 429) throw error
    done.refused.push({ kind: name, name: desire.name, detail: error.message })
  }
}

type Ref = { kind: string; name: string }

const makeAll = async (deps: RebuildDeps, reader: KeptReader, refs: readonly Ref[], done: Rebuilt): Promise<void> => {
  for (let at = 0; at < refs.length; at += READ_AT_ONCE) {
    const waiting = await reader.named(refs.slice(at, at + READ_AT_ONCE))
    const lane = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await make(deps, next, done)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
  }
}

/** Does what the plan says, stage by stage. @throws what ended it half-way: repeat it with a fresh plan */
export const applyRebuild = async (deps: RebuildDeps, plan: RebuildPlan): Promise<Rebuilt> => {
  const done: Rebuilt = { made: 0, stood: 0, refused: [] }
  const reader = makeKeptReader(deps)
  for (const stage of plan.stages) await makeAll(deps, reader, stage, done)
  return done
}
