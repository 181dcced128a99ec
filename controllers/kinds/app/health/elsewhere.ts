/** What is looked at of an app on other hosts than the one where it lives: where it moves to, and what it has left (rules/app.md#moves). */
import { isAsked } from '../../../../crds/app/desire.ts'
import { leftJobOf, leftPlaces, targetOf } from '../../../../crds/app/lifecycle/keeping/moving/place.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppWorld, JobState, Moving, Operation, TargetHost } from '../../../../crds/app/world.ts'
import { originOf } from '../../../../crds/kernel/desire/desire.ts'
import { Stalled, Waiting } from '../../../base/errors.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import type { AppRows } from '../../../store/app/operations.ts'
import { makeCarried } from './carried.ts'

type Elsewhere = Pick<AppWorld, 'moving' | 'leaving'>
type Rows = Pick<AppRows, 'operations'> & Pick<AppWorld, 'places'>
type ElsewhereDeps = {
  hosts: Hosts
  /** As a plan knows it; null for one that is not there. */
  hostOf(name: string): TargetHost | null
  /** The job of the operation under way. */
  jobOf(object: AppResource, rows: Rows & AppRows): Promise<JobState | null>
  now: () => Date
}

/** The one that runs, or waits first. */
const presentMove = ({ spec }: AppResource, { operations }: Rows): Operation | undefined => {
  const present =
    operations.find(({ state }) => state === 'running') ??
    operations.find((operation) => operation.state === 'queued' && isAsked(operation, spec))
  return present?.kind === 'move' ? present : undefined
}

/** What cannot be reached is waited for; it keeps nothing else from being done. */
const orAway = async <T>(look: () => Promise<T>, away: (detail: string) => T): Promise<T> =>
  look().catch((error) => {
    if (!(error instanceof Waiting || error instanceof Stalled)) throw error
    return away(error.message)
  })

/** @returns the function that looks at them; `job` is that of a move under way */
export const makeElsewhere = ({ hosts, hostOf, jobOf, now }: ElsewhereDeps) => {
  const carriedOf = makeCarried({ hosts })
  const movingOf = async (object: AppResource, rows: Rows & AppRows) => {
    const move = presentMove(object, rows)
    const host = move && targetOf(move)
    if (!move || !host) return { moving: null, job: null }
    const facts = hosts.facts(host)
    const moving: Moving = {
      ...{ target: hostOf(host), address: facts?.publicAddress ?? '', unreachable: null },
      ...{ placed: null, authority: null, isCertified: false, isForwarded: false },
      carry: move.state === 'running' ? await carriedOf(object, rows) : null,
    }
    if (move.state !== 'running' || !facts) return { moving, job: null }
    return orAway(
      async () => ({ moving, job: await jobOf(object, rows) }),
      (unreachable) => ({ moving: { ...moving, unreachable }, job: null }),
    )
  }

  const leavingOf = async ({ metadata }: AppResource, { places }: Rows): Promise<Elsewhere['leaving']> => {
    const id = leftJobOf(originOf(metadata))
    const due = leftPlaces(places, now(), metadata.deletionTimestamp !== undefined)
    const look = async (host: string): Promise<JobState | null> => {
      if (!hosts.facts(host)) return { state: 'absent' }
      return orAway<JobState | null>(
        () => hosts.link(host).jobState(id),
        () => null,
      )
    }
    return Object.fromEntries(await Promise.all(due.map(async ({ host }) => [host, await look(host)] as const)))
  }

  return async (object: AppResource, rows: Rows & AppRows): Promise<Elsewhere & { job: JobState | null }> => {
    const [there, leaving] = await Promise.all([movingOf(object, rows), leavingOf(object, rows)])
    return { ...there, leaving }
  }
}
