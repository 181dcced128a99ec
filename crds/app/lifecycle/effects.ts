/** What the table of transitions stamps on an operation and on its releases. The state itself is written by `decide`. */
import type { ReleaseCommands } from '../runs/schema.ts'
import { DEPLOY_STEPS, type Operation, type OperationStep, type Release, SCALE_STEPS } from '../world.ts'
import type { EventNamed, NewAppOperation, OperationContext, OperationEventName } from './events.ts'
import { watchFrom } from './health/watch.ts'

export type OperationEffect<On extends OperationEventName> = (
  context: OperationContext,
  event: EventNamed<On>,
  at: string,
) => { operation: Operation; releases: Release[] }

/** Characters of a message that its step keeps. */
const STEP_MESSAGE_MAX = 1_000

/** An operation as it is asked for. @param n counts per app, in the order of asking */
export const queued = (
  { id, app, account, intent, byController }: NewAppOperation,
  n: number,
  at: string,
): Operation => ({
  id,
  app,
  account,
  n,
  kind: intent.kind,
  intent,
  byController,
  state: 'queued',
  release: null,
  code: null,
  message: null,
  createdAt: at,
  startedAt: null,
  endedAt: null,
  cancelAt: null,
  switchAt: null,
  steps: (intent.kind === 'scale' ? SCALE_STEPS : DEPLOY_STEPS).map((name) => ({
    name,
    state: 'pending',
    startedAt: null,
    endedAt: null,
    message: null,
  })),
  commands: null,
  runs: [],
})

const started = (step: OperationStep, at: string): OperationStep => ({ ...step, state: 'running', startedAt: at })

type Added = { commands: ReleaseCommands | null; carries: boolean }

/** What is run before a release comes when its images are there, and before anything of it is started; so does what it keeps. */
const stepsWith = (steps: readonly OperationStep[], { commands, carries }: Added): readonly OperationStep[] => {
  const place = steps.findIndex(({ name }) => name === 'start')
  const names = [
    ...(commands?.preRelease ? (['pre_release'] as const) : []),
    ...(carries ? (['volumes'] as const) : []),
  ]
  const added = names.map((name): OperationStep => {
    return { name, state: 'pending', startedAt: null, endedAt: null, message: null }
  })
  return steps.toSpliced(place, 0, ...added)
}

export const begun: OperationEffect<'begun'> = ({ operation, lastRelease }, event, at) => {
  const { source, envVersion, restoredFrom, commands = null, carries = false } = event
  const number = lastRelease + 1
  const release: Release = {
    number,
    id: operation.id.replace(/^op-/, 'rel-'),
    operation: operation.id,
    state: 'building',
    reason: null,
    logTail: null,
    restoredFrom,
    source,
    envVersion,
    record: null,
    digest: null,
    address: null,
    createdAt: at,
    liveAt: null,
    supersededAt: null,
    retiredAt: null,
  }
  const steps = stepsWith(operation.steps, { commands, carries }).map((step, place) =>
    place === 0 ? started(step, at) : step,
  )
  return { operation: { ...operation, release: number, startedAt: at, steps, commands }, releases: [release] }
}

export const passed: OperationEffect<'passed'> = ({ operation, release }, { known, message }, at) => {
  const present = operation.steps.findIndex(({ state }) => state === 'running')
  const steps = operation.steps.map((step, place): OperationStep => {
    // What was said of it while it ran is over; what it came to is said in its place.
    if (place === present) return { ...step, state: 'succeeded', endedAt: at, message }
    return place === present + 1 ? started(step, at) : step
  })
  const { record, ...rest } = known
  const learned = release && { ...release, ...rest, record: { ...release.record, ...record } }
  return { operation: { ...operation, steps }, releases: learned ? [learned] : [] }
}

export const scaling: OperationEffect<'scaling'> = ({ operation, live }, _event, at) => {
  const steps = operation.steps.map((step, place) => (place === 0 ? started(step, at) : step))
  return { operation: { ...operation, release: live?.number ?? null, startedAt: at, steps }, releases: [] }
}

export const grown: OperationEffect<'grown'> = ({ operation, live }, { address, leaving, message }, at) => {
  const steps = operation.steps.map((step): OperationStep => {
    if (step.name === 'start') return { ...step, state: 'succeeded', endedAt: at, message }
    return started(step, at)
  })
  const record = { ...live?.record, scaling: { address, leaving } }
  return { operation: { ...operation, steps }, releases: live ? [{ ...live, record }] : [] }
}

export const scaled: OperationEffect<'scaled'> = ({ operation, live }, { replicas, parts }, at) => {
  const steps = operation.steps.map(
    (step): OperationStep => (step.state === 'running' ? { ...step, state: 'succeeded', endedAt: at } : step),
  )
  const { scaling, leaving = [], ...known } = live?.record ?? {}
  const named = new Set(parts.map(({ name }) => name))
  // One that is wanted again stays; one that leaves twice ends what it began at first.
  const before = leaving.filter(({ name }) => !named.has(name))
  const fresh = (scaling?.leaving ?? []).filter(({ name }) => before.every((one) => one.name !== name))
  const all = [...before, ...fresh.map((one) => ({ ...one, since: at }))]
  const record = { ...known, replicas, parts, ...(all.length > 0 && { leaving: all }) }
  return { operation: { ...operation, endedAt: at, steps }, releases: live ? [{ ...live, record }] : [] }
}

export const left: OperationEffect<'left'> = ({ operation, release }, { names }) => {
  const { leaving = [], ...known } = release?.record ?? {}
  const rest = leaving.filter(({ name }) => !names.includes(name))
  const record = { ...known, ...(rest.length > 0 && { leaving: rest }) }
  return { operation, releases: release ? [{ ...release, record }] : [] }
}

export const claimed: OperationEffect<'claimed'> = ({ operation }, _event, at) => ({
  operation: { ...operation, switchAt: at },
  releases: [],
})

export const switched: OperationEffect<'switched'> = ({ operation, release, live }, { watchMs = 0 }, at) => {
  const steps = operation.steps.map(
    (step): OperationStep => (step.state === 'running' ? { ...step, state: 'succeeded', endedAt: at } : step),
  )
  const left: Release[] = live ? [{ ...live, state: 'superseded', supersededAt: at }] : []
  const watch = watchFrom(live, at, watchMs)
  const record = watch && release ? { ...release.record, watch } : release?.record
  const reached: Release[] = release ? [{ ...release, state: 'live', liveAt: at, record: record ?? null }] : []
  return { operation: { ...operation, endedAt: at, steps }, releases: [...left, ...reached] }
}

export const cancelAsked: OperationEffect<'cancel'> = ({ operation }, _event, at) => ({
  operation: { ...operation, cancelAt: at },
  releases: [],
})

/** It ended without a switch: the release that it began, if any, has failed. */
export const ended: OperationEffect<'succeeded' | 'failed' | 'cancelled' | 'unknown'> = (context, event, at) => {
  const { operation, release } = context
  const { code, message, log } = event
  const shown = [...message].slice(0, STEP_MESSAGE_MAX).join('')
  const outcome = event.on === 'succeeded' ? 'succeeded' : 'failed'
  const steps = operation.steps.map((step): OperationStep => {
    if (step.state === 'running') return { ...step, state: outcome, endedAt: at, message: shown }
    return step.state === 'pending' ? { ...step, state: 'skipped' } : step
  })
  // A scale was one of a release that goes on serving.
  const failed: Release | null =
    operation.kind === 'scale'
      ? null
      : release && {
          ...release,
          state: 'failed',
          reason: message,
          logTail: log,
          supersededAt: at,
        }
  return { operation: { ...operation, endedAt: at, code, message, steps }, releases: failed ? [failed] : [] }
}

/** It ended well, and did not stay so: the only way in which what has ended moves again. */
export const returned: OperationEffect<'returned'> = ({ operation, release }, { before, code, message, log }, at) => {
  const shown = [...message].slice(0, STEP_MESSAGE_MAX).join('')
  const last = operation.steps.length - 1
  const steps = operation.steps.map(
    (step, place): OperationStep => (place === last ? { ...step, state: 'failed', message: shown } : step),
  )
  const bad: Release[] = release
    ? [{ ...release, state: 'failed', reason: message, logTail: log, supersededAt: at }]
    : []
  const back: Release = { ...before, state: 'live', supersededAt: null }
  return { operation: { ...operation, endedAt: at, code, message, steps }, releases: [...bad, back] }
}

export const retired: OperationEffect<'retired'> = ({ operation, release }, _event, at) => ({
  operation,
  releases: release ? [{ ...release, retiredAt: at }] : [],
})
