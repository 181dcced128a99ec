/**
 * One operation from its turn to its end: check, upload, images, start, switch. Until the switch the release before it goes
 * on serving, and whatever fails or is cancelled ends there (rules/app.md#releases).
 */
import { type Verdict, waiting } from '../../kernel/plan.ts'
import type { ProblemCode } from '../../kernel/problem.ts'
import { isAsked } from '../desire.ts'
import { commandsFor, preReleaseSteps } from '../runs/release.ts'
import type { AppResource, AppSpec } from '../schema.ts'
import { addressIn, noteIn } from '../start.ts'
import { type AppStep, type JobStep, jobIdOf } from '../steps.ts'
import type { AppWorld, JobState, Operation, OperationStep, PinnedImage, Release } from '../world.ts'
import { isRestoring } from './keeping/backups/backup.ts'
import { undoneFirst } from './keeping/moving/carrying.ts'
import { moveBegun, moveSteps, seenThere } from './keeping/moving/move.ts'
import { toldReason } from './logs/reason.ts'
import { isBaseHeld } from './retire.ts'
import { isSet, routeOf, setRoute } from './route.ts'
import { scaleSteps } from './scaling/scale.ts'

/** How long until a job is looked at again, by how long it has run: each look itself waits for the job's end. */
const POLL_MS = [
  { untilMs: 20_000, everyMs: 20 },
  { untilMs: Number.POSITIVE_INFINITY, everyMs: 1_000 },
]
const UNREACHABLE_RETRY_MS = 5_000

type Going = { steps: AppStep[]; verdict: Verdict | null }

/** The one that runs, else the next in the order of asking. */
export const presentOperation = (spec: AppSpec, { operations }: AppWorld): Operation | undefined =>
  operations.find(({ state }) => state === 'running') ??
  operations.find((operation) => operation.state === 'queued' && isAsked(operation, spec))

const titleOf = ({ kind, release, intent }: Operation): string => {
  if (intent.kind === 'scale') return `release ${release ?? 'that is live'} is being scaled to ${intent.replicas}`
  return release === null ? `the ${kind} is about to begin` : `release ${release} is being made (${kind})`
}

const liveIn = (world: AppWorld): Release | undefined => world.releases.find(({ state }) => state === 'live')

export const operateOn = (object: AppResource, here: AppWorld, operation: Operation, now: Date): Going => {
  const world = operation.kind === 'move' ? seenThere(here) : here
  const steps = undoneFirst(here, operation, stepsOf(object, world, { operation, now, here }))
  const title = world.progress ? `${titleOf(operation)}: ${world.progress}` : titleOf(operation)
  if (steps.length > 0) return { steps, verdict: waiting('Deploying', title) }
  const away = world.unreachable ?? here.moving?.carry?.unreachable ?? null
  if (away !== null) return { steps, verdict: waiting('HostUnreachable', away, UNREACHABLE_RETRY_MS) }
  const since = operation.steps.find(({ state }) => state === 'running')?.startedAt ?? operation.createdAt
  const ranMs = now.getTime() - Date.parse(since)
  const retryMs = POLL_MS.find(({ untilMs }) => ranMs < untilMs)?.everyMs
  return { steps, verdict: waiting('Deploying', title, retryMs) }
}

const failed = (operation: Operation, code: ProblemCode, detail: string, log: string | null = null): AppStep => ({
  do: 'end',
  operation,
  state: 'failed',
  code,
  message: detail,
  log,
})

/** `here`: the world of the host where the app lives. */
type Asked = { operation: Operation; now: Date; here: AppWorld }

const stepsOf = (object: AppResource, world: AppWorld, { operation, now, here }: Asked): AppStep[] => {
  if (operation.cancelAt !== null && operation.switchAt === null) return cancelled(operation)
  // A restore has stopped services, and starts them again: then it is the turn of the next.
  // It was taken up in this very pass: the host that it goes to has not been looked at.
  if (operation.kind === 'move' && here.moving === null) return []
  if (operation.state === 'queued') return isRestoring(world) ? [] : [begun(object, here, operation)]
  const release = world.releases.find(({ number }) => number === operation.release)
  const present = operation.steps.find(({ state }) => state === 'running')
  if (!release || !present) return [lost(operation)]
  const moving = operation.kind === 'move' ? moveSteps(object, here, { operation, release, present, now }) : null
  return moving ?? presentSteps(object, world, { operation, release, present })
}

const lost = (operation: Operation): AppStep => ({
  do: 'end',
  operation,
  state: 'unknown',
  code: null,
  message: 'its record is incomplete; look at what serves, and deploy again',
  log: null,
})

/** A job that was claimed by nobody is marked, so that a start which is still on its way finds it ended. */
const cancelled = (operation: Operation): AppStep[] => {
  const jobs: AppStep[] = (['images', 'start'] as const).flatMap((step) => {
    const state = operation.steps.find(({ name }) => name === step)?.state
    return state === 'running' ? [{ do: 'cancelJob', operation, job: jobIdOf(operation, step) }] : []
  })
  const message = 'cancelled; the release before it goes on serving'
  return [...jobs, { do: 'end', operation, state: 'cancelled', code: null, message, log: null }]
}

/** The release that an operation repeats: its images are taken as they were, nothing is built. */
const repeatedBy = (world: AppWorld, { intent }: Operation): Release | undefined => {
  if (intent.kind === 'deploy' || intent.kind === 'scale' || intent.kind === 'move') return undefined
  if (intent.kind === 'env') return liveIn(world)
  return world.releases.find(({ number }) => number === intent.release)
}

const begun = (object: AppResource, world: AppWorld, operation: Operation): AppStep => {
  const { intent } = operation
  if (intent.kind === 'move') return moveBegun(object, world, operation)
  const { spec } = object
  const live = liveIn(world)
  if (intent.kind === 'scale') {
    if (live) return { do: 'beginScale', operation }
    const message = 'nothing is live yet; the next deploy starts as many as the app says'
    return { do: 'end', operation, state: 'succeeded', code: null, message, log: null }
  }
  const commands = commandsFor(spec.commands, operation.kind)
  if (intent.kind === 'deploy') {
    const { digest: source, envVersion } = intent
    return { do: 'begin', operation, source, envVersion, restoredFrom: null, commands }
  }
  if (intent.kind === 'env') {
    if (live) {
      const { envVersion } = intent
      return { do: 'begin', operation, source: live.source, envVersion, restoredFrom: null, commands }
    }
    const message = 'stored; nothing is live yet, so the next deploy applies it'
    return { do: 'end', operation, state: 'succeeded', code: null, message, log: null }
  }
  const target = repeatedBy(world, operation)
  if (!target?.record?.images) {
    return failed(operation, 'UNKNOWN_RELEASE', `there is no release ${intent.release} that was ever started`)
  }
  const current = live ? live.envVersion : (spec.envVersion ?? null)
  const envVersion = intent.env === 'release' ? target.envVersion : current
  return { do: 'begin', operation, source: target.source, envVersion, restoredFrom: target.number }
}

type Present = { operation: Operation; release: Release; present: OperationStep }

const presentSteps = (object: AppResource, world: AppWorld, going: Present): AppStep[] => {
  const { operation, release, present } = going
  if (operation.kind === 'scale') {
    return scaleSteps(object, world, {
      ...{ operation, live: release },
      jobSteps: (taken) => jobSteps(world, going, 'start', taken),
      failed: (code, detail, log = undefined) => failed(operation, code, detail, log ?? null),
    })
  }
  switch (present.name) {
    case 'check':
      return [{ do: 'check', operation, release, pinned: pinnedFor(world, operation) }]
    case 'upload':
      return world.unreachable === null ? [{ do: 'upload', operation, release }] : []
    case 'images':
      return jobSteps(world, going, 'images', (log) => [{ do: 'takeImages', operation, release, log }])
    case 'pre_release':
      return isBaseHeld(world) ? [] : preReleaseSteps(world, { operation, release })
    case 'start':
      if (world.job?.state === 'absent' && isBaseHeld(world)) return []
      return jobSteps(world, going, 'start', (log) => {
        const address = addressIn(log)
        if (address !== null) return [{ do: 'takeAddress', operation, address, note: noteIn(log) }]
        return [failed(operation, 'RELEASE_FAILED', 'it started without telling where it listens', log)]
      })
    case 'volumes':
      // Of a move alone, which knows its steps (moveSteps).
      return [lost(operation)]
    case 'switch':
      return switchSteps(object, world, operation, release)
    default:
      return present.name satisfies never
  }
}

const pinnedFor = (world: AppWorld, operation: Operation): PinnedImage[] | null => {
  if (operation.kind === 'deploy' || operation.kind === 'move') return null
  return repeatedBy(world, operation)?.record?.images ?? []
}

const jobSteps = (
  world: AppWorld,
  { operation, release }: Present,
  step: JobStep,
  taken: (log: string) => AppStep[],
): AppStep[] => {
  const job: JobState | null = world.job
  // What was said comes before what is made of it: nobody hears that it failed before he can read why.
  if (job !== null && job.state !== 'absent' && job.output !== undefined) {
    return [{ do: 'keepLog', operation, release, step, output: job.output }]
  }
  if (job === null || job.state === 'running') return []
  if (job.state === 'absent') return [{ do: 'startJob', operation, release, step }]
  if (job.code === 0) return taken(job.log)
  const { code, detail } = toldReason(step, job, release.number)
  return [failed(operation, code, detail, job.log)]
}

/** The route first, then the record: whoever is killed between them sets the same route again. */
const switchSteps = (object: AppResource, world: AppWorld, operation: Operation, release: Release): AppStep[] => {
  if (operation.switchAt === null) return [{ do: 'claimSwitch', operation }]
  const { host } = world
  if (!host || release.address === null) return [lost(operation)]
  const wanted = routeOf(object, { ...world, host }, release.address)
  if (!isSet(world, wanted)) return [setRoute(world, wanted, release)]
  return [{ do: 'goLive', operation, release }]
}
