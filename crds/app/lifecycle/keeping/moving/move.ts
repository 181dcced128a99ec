/**
 * A move: the live release is made once more, on another host, and visitors are sent there once it answers and its name has a
 * certificate there. Until then the one before serves, and whatever fails ends there (rules/app.md#moves). Pure.
 */
import { mayUseHost } from '../../../../kernel/fields.ts'
import type { ProblemCode } from '../../../../kernel/problem.ts'
import type { AppResource, AppSpec } from '../../../schema.ts'
import type { AppStep } from '../../../steps.ts'
import type {
  AppPlace,
  AppWorld,
  Moving,
  Operation,
  OperationStep,
  Release,
  TargetHost,
  VolumeSeen,
} from '../../../world.ts'
import { isSet, routeOf, setRoute } from '../../route.ts'
import { budgetOf } from '../budget.ts'
import { allowsDowntime } from '../handover.ts'
import { bytesOf, CARRY_MAX_BYTES, carries, keptVolumes, sayMib } from './carry.ts'
import { carrySteps, heldBack, isBackAgain, isFailed, leaveSteps } from './carrying.ts'
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
  /** Names of what it keeps where it lives, and how much that is as far as it was measured. */
  kept: readonly string[]
  volumes: readonly VolumeSeen[]
  /** Why the host where it lives cannot be read now; null when it can. */
  away: string | null
}

const fault = (code: ProblemCode, detail: string): MoveFault => ({ code, detail })

const ofHost = ({ name, approved, baseDomain, arch, isCordoned }: TargetHost): MoveFault | null => {
  if (!approved) return fault('HOST_NOT_APPROVED', `host ${name} is not approved`)
  if (isCordoned) return fault('HOST_CORDONED', `host ${name} takes no new apps`)
  if (baseDomain === null) return fault('HOST_UNFIT', `host ${name} has no base domain`)
  return arch === null ? fault('HOST_UNFIT', `host ${name} has not been inspected`) : null
}

/** Why what it keeps is not carried. What lies outside of volumes with a name nobody can name, and what is large takes too long. */
const ofVolumes = ({ live, kept, volumes, home, away }: MoveAsked): MoveFault | null => {
  const stateful = live?.record?.stateful ?? []
  if (kept.length === 0) {
    if (stateful.length === 0) return null
    return fault('VOLUMES_STAY', `what ${stateful.join(', ')} holds outside of a named volume stays on ${home}`)
  }
  const bytes = bytesOf(volumes)
  if (bytes > CARRY_MAX_BYTES) {
    const most = `${sayMib(CARRY_MAX_BYTES)} are moved at most`
    return fault('VOLUMES_STAY', `${kept.join(', ')} hold ${sayMib(bytes)} on ${home}, and ${most}`)
  }
  return away === null
    ? null
    : fault('VOLUMES_AWAY', `what ${kept.join(', ')} holds on ${home} cannot be read: ${away}`)
}

/** Why an app does not move there, whoever asks and however; null where it may. What has room is asked when it is taken. */
export const moveFault = (asked: MoveAsked): MoveFault | null => {
  const { spec, wanted, home, target, live, places } = asked
  if (!target || !mayUseHost(target, spec.account)) return fault('HOST_MISSING', `there is no host ${wanted}`)
  if (wanted === home) return fault('SAME_HOST', `it lives on ${home}`)
  if (!live) return fault('NOT_RELEASED', 'nothing of it runs; deploy it first')
  const kept = ofVolumes(asked)
  if (kept) return kept
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
  const kept = keptVolumes(world.releases)
  const isAway = world.host?.approved === true ? world.unreachable : `${world.home} is not approved`
  const volumes = world.look?.volumes ?? []
  const asked = { spec, wanted, home: world.home, target, live, places: world.places, kept, volumes, away: isAway }
  const isConfirmed = kept.length === 0 || allowsDowntime(spec, operation.intent)
  const unasked: MoveFault = {
    code: 'DOWNTIME_NOT_CONFIRMED',
    detail: 'nothing of it runs while what it keeps is moved',
  }
  const why = moveFault(asked) ?? (isConfirmed ? null : unasked)
  if (why || !live || !target) return failed(operation, why ?? { code: 'NOT_RELEASED', detail: 'nothing of it runs' })
  if (!world.places.some(({ host, place }) => host === wanted && place === 'coming')) {
    const budget = budgetOf(spec.budget, target.budget)
    return { do: 'takePlace', operation, host: wanted, budget, limits: target.capacity }
  }
  const { source, envVersion } = live
  // As with a rollback: nothing is run before or after it, for it is what runs already.
  return { do: 'begin', operation, source, envVersion, restoredFrom: null, commands: null, carries: kept.length > 0 }
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
type Wanted = ReturnType<typeof routeOf>

/** The route there and its certificate. Null once both are there. */
const routeThere = (moving: Moving, wanted: Wanted, { operation, now }: Pick<Switching, 'operation' | 'now'>) => {
  const { route, dialFile, address } = wanted
  if (moving.placed !== address) return [{ do: 'placeRoute', operation, route, dialFile, address } as const]
  if (moving.isCertified) return null
  const since = operation.steps.find(({ name }) => name === 'switch')?.startedAt ?? operation.createdAt
  const detail = `${route.hostnames[0]} got no certificate on ${moving.target?.name}`
  const isLate = operation.switchAt === null && now.getTime() - Date.parse(since) >= CERTIFICATE_LIMIT_MS
  return isLate ? [failed(operation, { code: 'RELEASE_FAILED', detail })] : []
}

/**
 * The route there and its certificate, then the claim; from there on only forward: the rows name the new address, the proxy of
 * before sends its visitors on, and the app lives there. Whoever is killed in between does the same again.
 */
const moveSwitch = (world: AppWorld, { object, operation, release, now }: Switching): AppStep[] => {
  const { moving, host: home } = world
  if (isBackAgain(world, operation)) return leaveSteps(world, operation) ?? []
  if (!moving?.target || moving.unreachable !== null || release.address === null) return []
  const wanted = routeOf(object, { ...world, host: moving.target }, release.address)
  const placing = routeThere(moving, wanted, { operation, now })
  if (placing) return placing
  if (operation.switchAt === null) return isAtWork(world) ? [] : [{ do: 'claimSwitch', operation }]
  const leaving = leaveSteps(world, operation)
  if (leaving) return leaving
  if (!isSet(world, wanted)) return [{ ...setRoute(world, wanted, release), isFirst: false, operation } as AppStep]
  // A host that is away, or that nothing may be done on any more, goes on serving what it has.
  const isInReach = home?.approved === true && world.unreachable === null
  return isInReach && !moving.isForwarded ? [{ do: 'forward', operation }] : [{ do: 'goLive', operation, release }]
}

type Present = { operation: Operation; release: Release; present: OperationStep; now: Date }

/** What a move does otherwise than a deploy. Null where it does the same. @param world of the host where the app lives */
export const moveSteps = (object: AppResource, world: AppWorld, given: Present): AppStep[] | null => {
  const { operation, release, present, now } = given
  if (present.name === 'volumes')
    return carrySteps(object, world, { operation, release, now, limitMs: CERTIFICATE_LIMIT_MS })
  // Why it did not come up there is said by its start.
  const hasFailed = present.name === 'start' && isFailed(world.job)
  const isOn = present.name === 'start' || present.name === 'switch'
  const isHeld = carries(operation) && operation.switchAt === null && isOn && !hasFailed
  const stopped = isHeld ? heldBack(world, operation) : null
  if (stopped) return stopped
  return present.name === 'switch' ? moveSwitch(world, { object, operation, release, now }) : null
}
