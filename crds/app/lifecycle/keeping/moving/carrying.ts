/**
 * How a move carries what an app keeps: its name is certified there before anything stops; then the old ones stop, what they kept is
 * packed, brought over and checked, and the new ones start. Until the host that is left has said that the old ones never run again,
 * whatever fails ends with the old ones on their own volumes, which nobody has touched (rules/app.md#volumes-that-move). Pure.
 */
import type { ProblemCode } from '../../../../kernel/problem.ts'
import type { AppResource } from '../../../schema.ts'
import { EXIT, markedLines } from '../../../start.ts'
import type { AppStep } from '../../../steps.ts'
import type { AppWorld, JobState, Operation, Release } from '../../../world.ts'
import { routeOf } from '../../route.ts'
import { bytesOf, CARRY_MAX_BYTES, type Carry, carries, packsIn, sayMib } from './carry.ts'
import type { PackedVolume } from './held.ts'

/** Nobody listens there, on any host: a route that is made for its certificate leads to nobody yet. */
export const NOBODY = '127.0.0.1:9'

type Fault = { code: ProblemCode; detail: string }
type Ended = Extract<JobState, { state: 'exited' }>

const fault = (code: ProblemCode, detail: string): Fault => ({ code, detail })

const BACK = fault('MOVE_TOO_LATE', 'its host has started it again before the move had come to its end')
const LOST = fault('VOLUMES_NOT_MOVED', 'its host or its container engine was restarted meanwhile')

/** What a job of a carrying did not end well for. */
const reasonOf = ({ code, log }: Ended): Fault => {
  const about = markedLines(log).find(([word]) => word === 'reason')
  const why = about ? `: ${about.slice(1).join(' ')}` : ''
  switch (code) {
    case EXIT.noRoom:
      return fault('HOST_FULL', `there is no room for what it keeps${why}`)
    case EXIT.tooLarge:
      return fault('VOLUMES_STAY', `it keeps more than ${sayMib(CARRY_MAX_BYTES)}, which are moved at most${why}`)
    case EXIT.givenDiffers:
      return fault('VOLUMES_NOT_MOVED', `what came over is not what was packed${why}`)
    case EXIT.notPacked:
    case EXIT.notRestored:
      return fault('VOLUMES_NOT_MOVED', `what it keeps was not copied${why}`)
    default:
      return LOST
  }
}

const isLost = (job: JobState): job is Ended => job.state === 'exited' && job.code !== 0

/** By itself, and not because somebody ended it. */
export const isFailed = (job: JobState | null): job is Ended =>
  job?.state === 'exited' && job.code !== 0 && !job.cancelled

/** What has happened on the host that is left since it was told to stop: null while that goes well. */
const lostThere = ({ fate, watch, hold }: Carry): Fault | null => {
  if (fate === 'back') return isLost(hold) ? reasonOf(hold) : BACK
  if (isLost(hold)) return reasonOf(hold)
  // Without it nobody would start the old ones again when we are gone.
  const isGone = watch.state === 'exited' && fate === 'none'
  return isGone || (hold.state !== 'absent' && watch.state === 'absent') ? LOST : null
}

const failed = (operation: Operation, { code, detail }: Fault): AppStep => ({
  ...{ do: 'end', operation, state: 'failed', code },
  ...{ message: `${detail}; it runs where it did, with what it keeps`, log: null },
})

/** Nothing is known of what the old ones do. */
const isHoldUnknown = ({ moving }: AppWorld): boolean => (moving?.carry ?? null)?.unreachable !== null

/** Once the old ones may be stopped: what ends it, or keeps it from going on. Null while nothing does. */
export const heldBack = (world: AppWorld, operation: Operation): AppStep[] | null => {
  if (isHoldUnknown(world)) return []
  const carry = world.moving?.carry ?? null
  const why = carry && lostThere(carry)
  return why && [failed(operation, why)]
}

/** Somebody runs something in what is about to be stopped, or takes a part of it away. */
const isAtWork = ({ runs, backups, retiring }: AppWorld): boolean =>
  [...runs.runs, ...backups, ...Object.values(retiring)].some((one) => one?.state === 'running')

/** The name is certified there before anything stops. Null once it is. */
const certifying = (object: AppResource, world: AppWorld, { operation, now, limitMs }: Carrying): AppStep[] | null => {
  const { moving } = world
  if (!moving?.target || moving.isCertified) return null
  const { route, dialFile, address } = routeOf(object, { ...world, host: moving.target }, NOBODY)
  if (moving.placed !== NOBODY) return [{ do: 'placeRoute', operation, route, dialFile, address }]
  const since = operation.steps.find(({ name }) => name === 'volumes')?.startedAt ?? operation.createdAt
  const detail = `${route.hostnames[0]} got no certificate on ${moving.target.name}`
  const isLate = now.getTime() - Date.parse(since) >= limitMs
  return isLate ? [failed(operation, fault('RELEASE_FAILED', detail))] : []
}

type Carrying = { operation: Operation; release: Release; now: Date /** Of the CA. */; limitMs: number }

const placing = (operation: Operation, carry: Carry, packs: PackedVolume[]): AppStep[] => {
  const { place, laid } = carry
  if (place.state === 'running') return []
  if (place.state === 'exited') {
    const names = packs.map(({ name, bytes }) => `${name} (${sayMib(bytes)} packed)`).join(', ')
    const message = `${names || 'nothing that it keeps was found'}; sums agree, and what was copied stays until the host is left`
    return [{ do: 'passVolumes', operation, message }]
  }
  if (carry.isFull)
    return [
      failed(operation, fault('HOST_FULL', 'there is no room for what it keeps: the disk of the other host is full')),
    ]
  const isHere = packs.every(({ n, bytes }) => (laid[n - 1] ?? 0) >= bytes)
  return [{ do: isHere ? 'placeVolumes' : 'carryVolumes', operation, packs }]
}

/** @param world of the host where it lives */
export const carrySteps = (object: AppResource, world: AppWorld, given: Carrying): AppStep[] => {
  const { operation } = given
  const carry = world.moving?.carry ?? null
  if (!carry || !world.moving) return []
  const notPlaced = carry.place
  if (isFailed(notPlaced)) return [failed(operation, reasonOf(notPlaced))]
  // Whatever the other host is.
  const stopped = heldBack(world, operation)
  if (stopped) return stopped
  if (world.moving.unreachable !== null) return []
  if (carry.hold.state === 'absent') {
    const first = certifying(object, world, given)
    if (first) return first
    const live = world.releases.find(({ state }) => state === 'live')
    if (!live || isAtWork(world)) return []
    return [{ do: 'holdVolumes', operation, live, bytes: bytesOf(world.look?.volumes ?? []) }]
  }
  if (carry.hold.state === 'running') return []
  const packs = packsIn(carry.hold.log)
  if (!packs) return [failed(operation, fault('VOLUMES_NOT_MOVED', 'its host did not say what it has packed'))]
  return placing(operation, carry, packs)
}

/** Nothing was ever begun to be started on the other host: nobody has to wait for its end there. */
export const isStartedThere = ({ steps }: Pick<Operation, 'steps'>): boolean =>
  steps.some(({ name, state }) => name === 'start' && state !== 'pending')

/** Something may be stopped, or run there, that has to be undone before the move may end. */
const isToUndo = ({ hold, watch, unreachable }: Carry): boolean =>
  hold.state !== 'absent' || watch.state !== 'absent' || unreachable !== null

/** A move ends without a switch only when the new ones do not run and the old ones do. */
export const undoneFirst = (world: AppWorld, operation: Operation, steps: AppStep[]): AppStep[] => {
  const carry = world.moving?.carry ?? null
  if (!carries(operation) || carry === null) return steps
  if (carry.undone) return [{ do: 'end', operation, ...carry.undone }]
  return steps.flatMap((step): AppStep[] => {
    // What runs there is ended by what undoes it.
    if (step.do === 'cancelJob') return []
    if (step.do !== 'end' || !isToUndo(carry)) return [step]
    const { state, code, message, log } = step
    return [{ do: 'undoMove', operation, ending: { state, code, message, log } }]
  })
}

/** The old ones run again: from then on there is nothing but an end for it, wherever it is. */
export const isBackAgain = ({ moving }: AppWorld, operation: Operation): boolean =>
  carries(operation) && moving?.carry?.fate === 'back'

/** After the claim: the host that is left says that the old ones never run again, then the new ones may go on. Null once both are so. */
export const leaveSteps = ({ moving }: AppWorld, operation: Operation): AppStep[] | null => {
  const carry = moving?.carry ?? null
  if (!carries(operation)) return null
  if (!carry) return []
  if (carry.fate === 'back') return [failed(operation, BACK)]
  if (carry.fate !== 'left') return carry.unreachable === null ? [{ do: 'leaveHold', operation }] : []
  return carry.isKept ? null : [{ do: 'keepThere', operation }]
}
