/** What the table of transitions stamps on an operation and on its releases. The state itself is written by `decide`. */
import { DEPLOY_STEPS, type Operation, type OperationStep, type Release } from '../world.ts'
import type { EventNamed, NewAppOperation, OperationContext, OperationEventName } from './events.ts'

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
  steps: DEPLOY_STEPS.map((name) => ({ name, state: 'pending', startedAt: null, endedAt: null, message: null })),
})

const started = (step: OperationStep, at: string): OperationStep => ({ ...step, state: 'running', startedAt: at })

export const begun: OperationEffect<'begun'> = ({ operation, lastRelease }, event, at) => {
  const { source, envVersion, restoredFrom } = event
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
  const steps = operation.steps.map((step, place) => (place === 0 ? started(step, at) : step))
  return { operation: { ...operation, release: number, startedAt: at, steps }, releases: [release] }
}

export const passed: OperationEffect<'passed'> = ({ operation, release }, { known, message }, at) => {
  const present = operation.steps.findIndex(({ state }) => state === 'running')
  const steps = operation.steps.map((step, place): OperationStep => {
    if (place === present) return { ...step, state: 'succeeded', endedAt: at, message }
    return place === present + 1 ? started(step, at) : step
  })
  const { record, ...rest } = known
  const learned = release && { ...release, ...rest, record: { ...release.record, ...record } }
  return { operation: { ...operation, steps }, releases: learned ? [learned] : [] }
}

export const claimed: OperationEffect<'claimed'> = ({ operation }, _event, at) => ({
  operation: { ...operation, switchAt: at },
  releases: [],
})

export const switched: OperationEffect<'switched'> = ({ operation, release, live }, _event, at) => {
  const steps = operation.steps.map(
    (step): OperationStep => (step.state === 'running' ? { ...step, state: 'succeeded', endedAt: at } : step),
  )
  const left: Release[] = live ? [{ ...live, state: 'superseded', supersededAt: at }] : []
  const reached: Release[] = release ? [{ ...release, state: 'live', liveAt: at }] : []
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
  const failed: Release | null = release && {
    ...release,
    state: 'failed',
    reason: message,
    logTail: log,
    supersededAt: at,
  }
  return { operation: { ...operation, endedAt: at, code, message, steps }, releases: failed ? [failed] : [] }
}

export const retired: OperationEffect<'retired'> = ({ operation, release }, _event, at) => ({
  operation,
  releases: release ? [{ ...release, retiredAt: at }] : [],
})
