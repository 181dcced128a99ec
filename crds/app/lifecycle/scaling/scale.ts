/**
 * A scale from its turn to its end (rules/app.md#scale): what is added is started beside what runs and answers, then visitors are
 * led to as many as were asked for. What leaves drains afterwards (leaving.ts): nobody waits for it.
 */
import { addressesIn, joinedAddress, replicaKeys } from '../../compose/replicas.ts'
import { askedIn, idOfAsked } from '../../desire.ts'
import type { AppResource } from '../../schema.ts'
import { addressIn } from '../../start.ts'
import type { AppStep } from '../../steps.ts'
import type { AppWorld, LeavingReplica, Operation, Release, ReleaseRecord, TargetHost } from '../../world.ts'
import { grantedReplicas } from '../keeping/budget.ts'
import { isSet, routeOf, setRoute } from '../route.ts'
import { isSingle, listenersOf, replicasOf, wantedReplicas } from './replicas.ts'

const liveIn = ({ releases }: Pick<AppWorld, 'releases'>): Release | undefined =>
  releases.find(({ state }) => state === 'live')

const countOf = ({ intent }: Operation): number | null => (intent.kind === 'scale' ? intent.replicas : null)

/** Why a release cannot have so many; null where it can. */
export const singleFault = (record: ReleaseRecord | null | undefined, replicas: number): string | null =>
  replicas > 1 && isSingle(record)
    ? `/replicas ${record?.route?.service} keeps something, or what keeps something needs it: one of it runs`
    : null

/** It was tried for this release, and did not come to it: whoever still wants it says so again. */
const wasTried = (last: Operation | undefined, live: Release, wanted: number): boolean =>
  last !== undefined &&
  countOf(last) === wanted &&
  last.state !== 'succeeded' &&
  (live.liveAt ?? '') <= (last.endedAt ?? last.createdAt)

/** The step that takes up how many the spec asks for, where no operation is about to. */
export const unlinkedScale = (object: AppResource, world: AppWorld): AppStep | null => {
  const { spec } = object
  const live = liveIn(world)
  if (!live || !world.host || singleFault(live.record, wantedReplicas(spec)) !== null) return null
  const wanted = grantedReplicas(spec, { ...world, host: world.host })
  if (wanted === replicasOf(live.record)) return null
  const asked = askedIn(spec, world)
  if (asked.some(({ endedAt }) => endedAt === null)) return null
  const last = asked.findLast(({ kind }) => kind === 'scale')
  if (wasTried(last, live, wanted)) return null
  const intent = { kind: 'scale', replicas: wanted } as const
  return { do: 'ask', id: idOfAsked(object, intent, [live.number, last?.n ?? 0]), intent }
}

/** Those beyond the first so many. What shares its address with one that stays takes nobody. */
const leavingOf = (live: Release, want: number): LeavingReplica[] => {
  const addresses = addressesIn(live.address)
  const staying = new Set(addresses.slice(0, want))
  return listenersOf(live.record, live.number).flatMap((name, place) => {
    const address = addresses[place] ?? null
    const isOwn = address !== null && !staying.has(address)
    return place < want ? [] : [{ name, address: isOwn ? address : null, since: null }]
  })
}

/** What the release is started with beside what runs. */
export const addedKeys = ({ number, record }: Release, want: number): string[] =>
  replicaKeys(record?.route?.service ?? '', number, want).slice(replicasOf(record))

const grown = (operation: Operation, live: Release, added: readonly string[]): AppStep => {
  const want = countOf(operation) ?? 1
  const have = replicasOf(live.record)
  const address = joinedAddress([...addressesIn(live.address).slice(0, Math.min(want, have)), ...added])
  const said = want > have ? `${want - have} more answer` : want < have ? `${have - want} will leave` : 'as many run'
  return { do: 'grown', operation, address, leaving: leavingOf(live, want), message: said }
}

type Scaling = {
  operation: Operation
  live: Release
  /** What comes of the job that starts what is added: steps, given what to do when it has ended well. */
  jobSteps: (taken: (log: string) => AppStep[]) => AppStep[]
  failed: (code: 'RELEASE_FAILED' | 'REPLICAS_REFUSED', detail: string, log?: string) => AppStep
}

const startSteps = ({ operation, live, jobSteps, failed }: Scaling): AppStep[] => {
  const want = countOf(operation) ?? 1
  const fault = singleFault(live.record, want)
  if (fault !== null) return [failed('REPLICAS_REFUSED', fault)]
  if (want <= replicasOf(live.record)) return [grown(operation, live, [])]
  return jobSteps((log) => {
    const added = addressesIn(addressIn(log))
    if (added.length === addedKeys(live, want).length) return [grown(operation, live, added)]
    return [failed('RELEASE_FAILED', 'it started without telling where it listens', log)]
  })
}

const switchSteps = (object: AppResource, world: AppWorld, { operation, live, failed }: Scaling): AppStep[] => {
  const { host } = world
  const address = live.record?.scaling?.address
  if (!host || !address) return [failed('RELEASE_FAILED', 'it is not known where visitors were to be led')]
  if (operation.switchAt === null) return [{ do: 'claimSwitch', operation }]
  const wanted = routeOf(object, { ...world, host: host as TargetHost }, address)
  if (!isSet(world, wanted)) return [setRoute(world, wanted, live)]
  return [{ do: 'scaled', operation, release: live, replicas: countOf(operation) ?? 1 }]
}

export const scaleSteps = (object: AppResource, world: AppWorld, scaling: Scaling): AppStep[] => {
  const present = scaling.operation.steps.find(({ state }) => state === 'running')?.name
  return present === 'start' ? startSteps(scaling) : switchSteps(object, world, scaling)
}
