/**
 * A move: the live release is made once more, on another host, and visitors are sent there once it answers and its name has a
 * certificate there. Until then the one before serves, and whatever fails ends there (rules/app.md#moves). Pure.
 */
import { mayUseHost } from '../../../../kernel/fields.ts'
import type { ProblemCode } from '../../../../kernel/problem.ts'
import type { AppResource, AppSpec } from '../../../schema.ts'
import type { AppStep } from '../../../steps.ts'
import type { AppPlace, AppWorld, Operation, Release, TargetHost } from '../../../world.ts'
import { isSet, routeOf, setRoute } from '../../route.ts'
import { budgetOf } from '../budget.ts'
import { targetOf } from './place.ts'

/** How long the CA may take for the name on the new host before the move is given up. */
export const CERTIFICATE_LIMIT_MS = 90_000

export type MoveFault = { code: ProblemCode; detail: string }

export type MoveAsked = {
  spec: Pick<AppSpec, 'account' | 'routing'>
  /** As it was asked for. */
  wanted: string
  home: string
  target: TargetHost | null
  live: Pick<Release, 'number' | 'record' | 'source' | 'sourceKept'> | null
  places: readonly AppPlace[]
}

const fault = (code: ProblemCode, detail: string): MoveFault => ({ code, detail })

const ofHost = ({ name, approved, baseDomain, arch, isCordoned }: TargetHost): MoveFault | null => {
  if (!approved) return fault('HOST_NOT_APPROVED', `host ${name} is not approved`)
  if (isCordoned) return fault('HOST_CORDONED', `host ${name} takes no new apps`)
  if (baseDomain === null) return fault('HOST_UNFIT', `host ${name} has no base domain`)
  return arch === null ? fault('HOST_UNFIT', `host ${name} has not been inspected`) : null
}

/** Why an app does not move there, whoever asks and however; null where it may. What has room is asked when it is taken. */
export const moveFault = ({ spec, wanted, home, target, live, places }: MoveAsked): MoveFault | null => {
  if (!target || !mayUseHost(target, spec.account)) return fault('HOST_MISSING', `there is no host ${wanted}`)
  if (wanted === home) return fault('SAME_HOST', `it lives on ${home}`)
  if (!live) return fault('NOT_RELEASED', 'nothing of it runs; deploy it first')
  const { volumes = [], stateful = [] } = live.record ?? {}
  const kept = volumes.length > 0 ? volumes : stateful
  if (kept.length > 0) return fault('VOLUMES_STAY', `what ${kept.join(', ')} holds stays on ${home}`)
  if (spec.routing === 'original')
    return fault('WRONG_STATE', 'it keeps the route of before, which is not ours to move')
  const unfit = ofHost(target)
  if (unfit) return unfit
  const left = places.find(({ host, place }) => host === wanted && place === 'left')
  if (left) return fault('HOST_LEFT', `it has left ${wanted}, and what is left of it there goes at ${left.until}`)
  return live.sourceKept === false
    ? fault('UNKNOWN_SOURCE', `the upload that release ${live.number} was made from is not kept any more; deploy anew`)
    : null
}

const failed = (operation: Operation, { code, detail }: MoveFault): AppStep => ({
  ...{ do: 'end', operation, state: 'failed', code },
  ...{ message: `${detail}; nothing was changed where it lives`, log: null },
})

/** The beginning of a move: name and room there first, then a release of what is live here. */
export const moveBegun = ({ spec }: AppResource, world: AppWorld, operation: Operation): AppStep => {
  const wanted = targetOf(operation) ?? ''
  const target = world.moving?.target ?? null
  const live = world.releases.find(({ state }) => state === 'live') ?? null
  const why = moveFault({ spec, wanted, home: world.home, target, live, places: world.places })
  if (why || !live || !target) return failed(operation, why ?? { code: 'NOT_RELEASED', detail: 'nothing of it runs' })
  if (!world.places.some(({ host, place }) => host === wanted && place === 'coming')) {
    const budget = budgetOf(spec.budget, target.budget)
    return { do: 'takePlace', operation, host: wanted, budget, limits: target.capacity }
  }
  const { source, envVersion } = live
  // As with a rollback: nothing is run before or after it, for it is what runs already.
  return { do: 'begin', operation, source, envVersion, restoredFrom: null, commands: null }
}

/** The world as the steps of a move see it that make its release: on the host that it goes to. */
export const seenThere = (world: AppWorld): AppWorld => ({
  ...world,
  host: world.moving?.target ?? null,
  unreachable: world.moving?.unreachable ?? null,
})

/** Somebody runs something in the release that is about to be left. */
const isAtWork = ({ runs, backups }: AppWorld): boolean =>
  runs.runs.some(({ state }) => state === 'running') || backups.some(({ state }) => state === 'running')

type Switching = { object: AppResource; operation: Operation; release: Release; now: Date }

/**
 * The route there and its certificate, then the claim; from there on only forward: the rows name the new address, the proxy of
 * before sends its visitors on, and the app lives there. Whoever is killed in between does the same again.
 */
export const moveSwitch = (world: AppWorld, { object, operation, release, now }: Switching): AppStep[] => {
  const { moving, host: home } = world
  if (!moving?.target || moving.unreachable !== null || release.address === null) return []
  const wanted = routeOf(object, { ...world, host: moving.target }, release.address)
  if (!moving.isPlaced)
    return [{ do: 'placeRoute', operation, route: wanted.route, dialFile: wanted.dialFile, address: wanted.address }]
  if (!moving.isCertified) {
    const since = operation.steps.find(({ name }) => name === 'switch')?.startedAt ?? operation.createdAt
    const isLate = operation.switchAt === null && now.getTime() - Date.parse(since) >= CERTIFICATE_LIMIT_MS
    const detail = `${wanted.route.hostnames[0]} got no certificate on ${moving.target.name}`
    return isLate ? [failed(operation, { code: 'RELEASE_FAILED', detail })] : []
  }
  if (operation.switchAt === null) return isAtWork(world) ? [] : [{ do: 'claimSwitch', operation }]
  if (!isSet(world, wanted)) return [{ ...setRoute(world, wanted, release), isFirst: false, operation } as AppStep]
  // A host that is away, or that nothing may be done on any more, goes on serving what it has.
  const isInReach = home?.approved === true && world.unreachable === null
  return isInReach && !moving.isForwarded ? [{ do: 'forward', operation }] : [{ do: 'goLive', operation, release }]
}
