/**
 * Steps by which a move carries what an app keeps: each is a job or a file under its own key on one of both hosts, so that it may be done
 * twice. Which may run is decided on the host that is left (rules/app.md#volumes-that-move).
 */
import { PART_BYTES } from '../../../../../crds/app/lifecycle/keeping/backups/backup.ts'
import {
  CARRY_JOBS,
  type Carry,
  type CarryJob,
  carries,
  carryJobOf,
  carrySeconds,
  fateIn,
  packOf,
  planCarry,
} from '../../../../../crds/app/lifecycle/keeping/moving/carry.ts'
import { isStartedThere } from '../../../../../crds/app/lifecycle/keeping/moving/carrying.ts'
import { homeOf, placedOn, targetOf } from '../../../../../crds/app/lifecycle/keeping/moving/place.ts'
import { liveOf } from '../../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../../crds/app/schema.ts'
import { jobIdOf } from '../../../../../crds/app/steps.ts'
import type { AppWorld, JobState, Operation } from '../../../../../crds/app/world.ts'
import { StaleEpoch } from '../../../../base/errors.ts'
import type { HostLink } from '../../../../io/hosts/link.ts'
import type { AppPlaces } from '../../../../store/app/rooms.ts'
import { laidOf, layPiece, takePiece } from '../../backupjobs.ts'
import { JOB_WAIT_MS } from '../../jobs.ts'
import { targetHostOf } from '../../observe.ts'
import { type ActContext, type Apply, pass, rowsOf, type StepOf } from '../context.ts'
import { holdJob, lookIn, placeJob, runCarry, watchJob, wholeIn } from './carryjobs.ts'

/** Of what was packed, in one step: what is left comes with the next. */
const PIECES_MAX = 8

type CarryContext = ActContext & { places: Pick<AppPlaces, 'placesOf'> }

const withCarry = (more: Partial<Carry>): Apply => {
  return (world) => {
    const carry = world.moving?.carry
    return carry && world.moving ? { ...world, moving: { ...world.moving, carry: { ...carry, ...more } } } : world
  }
}

/** The app as one of the host that it leaves, and that host. */
const leftBy = async ({ places, hosts }: CarryContext, object: AppResource) => {
  const home = placedOn(object, homeOf(object, await places.placesOf(object.metadata.name)))
  return { home, host: home.spec.hostId, link: hosts.link(home.spec.hostId) }
}

const linkThere = ({ hosts }: CarryContext, operation: Operation): HostLink => hosts.link(targetOf(operation) ?? '')

/** Its watch is there before anything stops. */
const holdVolumes = async (
  context: CarryContext,
  object: AppResource,
  { operation, live, bytes }: StepOf<'holdVolumes'>,
): Promise<Apply> => {
  const { home, host, link } = await leftBy(context, object)
  const target = targetHostOf(context.hosts.facts(host))
  if (!target) throw new Error(`the host ${host} is gone`)
  const roomMib = wholeIn(await runCarry(linkThere(context, operation), home, 'room', operation))
  const { project } = await context.releases.open(object.metadata.name, live.number)
  const { maxSeconds: seconds } = planCarry(project, bytes)
  const watch = await link.startJob(watchJob(home, 'watch', { operation, live, host: target, seconds }))
  const hold = await link.startJob(holdJob(home, operation, { roomMib, ...carrySeconds(project) }), {
    waitMs: JOB_WAIT_MS,
  })
  return withCarry({ watch, hold })
}

/** What is on the other host tells where to go on. */
const carryVolumes = async (
  context: CarryContext,
  object: AppResource,
  { operation, packs }: StepOf<'carryVolumes'>,
): Promise<Apply> => {
  const { home, link } = await leftBy(context, object)
  const there = linkThere(context, operation)
  const laid: number[] = []
  let pieces = 0
  for (const { n, name, bytes } of packs) {
    const id = packOf(operation, n)
    let known = await laidOf(there, home, id)
    for (; known < bytes && pieces < PIECES_MAX; pieces += 1) {
      const part = await takePiece(link, home, { id, taken: known })
      if (part.length !== Math.min(PART_BYTES, bytes - known)) throw new Error(`${name}: its pack is not what it was`)
      const next = await layPiece(there, home, { id, laid: known }, part)
      if (next === 'noRoom') return withCarry({ isFull: true })
      if (next !== known + part.length) throw new Error(`${name}: the other host has ${next} bytes of its pack`)
      known = next
    }
    laid.push(known)
  }
  const [all, have] = [packs.reduce((sum, { bytes }) => sum + bytes, 0), laid.reduce((sum, bytes) => sum + bytes, 0)]
  const mib = (count: number) => (count / 1_048_576).toFixed(1)
  await context.progress.note(operation, `${mib(have)} of ${mib(all)} MiB of what it keeps are on the other host`)
  return withCarry({ laid })
}

const placeVolumes = async (
  context: CarryContext,
  object: AppResource,
  { operation, packs }: StepOf<'placeVolumes'>,
): Promise<Apply> => {
  const place = await linkThere(context, operation).startJob(placeJob(object, operation, packs), {
    waitMs: JOB_WAIT_MS,
  })
  return withCarry({ place })
}

const passVolumes = async (context: CarryContext, { operation, message }: StepOf<'passVolumes'>): Promise<Apply> =>
  pass(context, { operation, step: 'volumes', message })

/**
 * What was begun there ends, and what runs. A host that is away, or that does not answer as it should, ends it by itself before the other one
 * starts anything again.
 * @returns why that is not known to be done; null where it is @throws StaleEpoch
 */
const endThere = async (context: CarryContext, object: AppResource, operation: Operation): Promise<unknown> => {
  const host = targetOf(operation) ?? ''
  if (!context.hosts.facts(host)) return null
  const link = context.hosts.link(host)
  try {
    for (const job of [jobIdOf(operation, 'start'), carryJobOf(operation, 'place')]) {
      if ((await link.jobState(job)).state === 'running') await link.cancelJob(job)
    }
    await runCarry(link, object, 'end', operation)
    return null
  } catch (error) {
    if (error instanceof StaleEpoch) throw error
    return error
  }
}

const dropJobs = async (link: HostLink, operation: Pick<Operation, 'id'>, jobs: readonly CarryJob[]): Promise<void> => {
  const [first = '', ...more] = jobs.map((job) => carryJobOf(operation, job))
  for (const id of [first, ...more]) if ((await link.jobState(id)).state === 'running') await link.cancelJob(id)
  await link.dropJob(first, ...more)
}

/** That the new ones do not run any more is known by the time that has passed, and by nothing else; where any were begun. */
const isTimeUp = async (link: HostLink, home: AppResource, operation: Operation): Promise<boolean> => {
  if (!isStartedThere(operation)) return true
  const watched = await link.jobState(carryJobOf(operation, 'watch'))
  if (watched.state !== 'exited') return false
  if (fateIn(watched.log) === 'back') return true
  // It was ended with its host, and nobody tells when the time is over.
  return lookIn(await runCarry(link, home, 'look', operation)).endedIn <= 0
}

/** The new ones first: the old ones run again when none of them does. */
const undoMove = async (
  context: CarryContext,
  object: AppResource,
  { operation, ending }: StepOf<'undoMove'>,
): Promise<Apply> => {
  const away = await endThere(context, object, operation)
  const { home, host, link } = await leftBy(context, object)
  if (away !== null && !(await isTimeUp(link, home, operation))) throw away
  const target = targetHostOf(context.hosts.facts(host))
  if (!target) throw new Error(`the host ${host} is gone`)
  const held = carryJobOf(operation, 'hold')
  if ((await link.jobState(held)).state === 'running') await link.cancelJob(held)
  const live = liveOf(await rowsOf(context, home)) ?? null
  const job = watchJob(home, 'back', { operation, live, host: target, seconds: 0 })
  const before = await link.jobState(job.id)
  if (before.state === 'exited' && fateIn(before.log) !== 'back') await link.dropJob(job.id)
  const back: JobState = await link.startJob(job, { waitMs: BACK_WAIT_MS })
  if (back.state !== 'exited' || fateIn(back.log) !== 'back') {
    const said = back.state === 'exited' ? back.log.slice(-300) : back.state
    throw new Error(`${operation.id}: what was stopped on ${host} does not run again yet: ${said}`)
  }
  await dropJobs(link, operation, ['hold', 'watch', 'back'])
  context.observations.lookAgain(object.metadata.name)
  return withCarry({ undone: ending })
}

/** Services that stop in their time, and start. */
const BACK_WAIT_MS = 60_000

const leaveHold = async (
  context: CarryContext,
  object: AppResource,
  { operation }: StepOf<'leaveHold'>,
): Promise<Apply> => {
  const { home, link } = await leftBy(context, object)
  const fate = await runCarry(link, home, 'leave', operation)
  if (fate !== 'left' && fate !== 'back') throw new Error(`${operation.id}: it is left, or is back, not ${fate}`)
  return withCarry({ fate })
}

const keepThere = async (
  context: CarryContext,
  object: AppResource,
  { operation }: StepOf<'keepThere'>,
): Promise<Apply> => {
  const there = linkThere(context, operation)
  await runCarry(there, object, 'keep', operation)
  await there.dropJob(carryJobOf(operation, 'place'))
  return withCarry({ isKept: true })
}

/** Jobs of moves away from a host that is left for good. */
export const dropCarryJobs = async (link: HostLink, { operations }: Pick<AppWorld, 'operations'>): Promise<void> => {
  for (const operation of operations.filter(carries)) await dropJobs(link, operation, CARRY_JOBS)
}

/** What the new ones may run until, as their host counts: a while before the old ones are started again. */
export const leaseFor = async (
  context: CarryContext,
  object: AppResource,
  operation: Operation,
): Promise<string | null> => {
  if (!carries(operation)) return null
  const { home, link } = await leftBy(context, object)
  const askedMs = performance.now()
  const { seconds } = lookIn(await runCarry(link, home, 'look', operation))
  // Neither clock is believed to be the other's: what went by since we asked counts against the lease, on both ways.
  const [now = '', boot = ''] = (await runCarry(linkThere(context, operation), home, 'clock', operation)).split(' ')
  const passedSeconds = Math.ceil((performance.now() - askedMs) / 1_000)
  return `${wholeIn(now) + Math.max(0, seconds - passedSeconds - LEASE_MARGIN_SECONDS)} ${boot}`
}

/** To stop what runs. */
const LEASE_MARGIN_SECONDS = 30

export const makeCarryActs = (context: CarryContext) => ({
  holdVolumes: (step: StepOf<'holdVolumes'>, object: AppResource) => holdVolumes(context, object, step),
  carryVolumes: (step: StepOf<'carryVolumes'>, object: AppResource) => carryVolumes(context, object, step),
  placeVolumes: (step: StepOf<'placeVolumes'>, object: AppResource) => placeVolumes(context, object, step),
  passVolumes: (step: StepOf<'passVolumes'>) => passVolumes(context, step),
  undoMove: (step: StepOf<'undoMove'>, object: AppResource) => undoMove(context, object, step),
  leaveHold: (step: StepOf<'leaveHold'>, object: AppResource) => leaveHold(context, object, step),
  keepThere: (step: StepOf<'keepThere'>, object: AppResource) => keepThere(context, object, step),
})
