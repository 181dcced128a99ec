/** What must hold before an event moves an operation: null, or the code and the words of the refusal. */
import type { Operation } from '../world.ts'
import type { EventNamed, OperationContext, OperationEventName, OperationRefusal } from './events.ts'

export type OperationGuard<On extends OperationEventName> = (
  context: OperationContext,
  event: EventNamed<On>,
) => OperationRefusal | null

type Guard = OperationGuard<OperationEventName>

const wrong = (detail: string): OperationRefusal => ({ code: 'WRONG_STATE', detail })
const late = (detail: string): OperationRefusal => ({ code: 'TOO_LATE', detail })

/** Why the table has no row. */
export const noRow = (on: OperationEventName, operation: Operation): OperationRefusal => {
  const { id, state, switchAt } = operation
  if (on !== 'cancel') return wrong(`${on} is not for an operation that is ${state}.`)
  return switchAt === null ? late(`${id} has ended: ${state}.`) : switchedAlready(operation)
}

const switchedAlready = ({ release }: Operation): OperationRefusal =>
  late(`Visitors are on release ${release} already.`)

export const beforeSwitch: Guard = ({ operation }) => (operation.switchAt === null ? null : switchedAlready(operation))

export const notCancelled: Guard = ({ operation: { id, cancelAt } }) =>
  cancelAt === null ? null : wrong(`${id} was asked to stop at ${cancelAt}.`)

export const nothingElseRuns: Guard = ({ running }) => (running === null ? null : wrong(`${running} runs.`))

export const hasRelease: Guard = ({ operation, release }) =>
  release === null ? wrong(`${operation.id} has no release on record.`) : null

/** It makes a release of its own. */
export const isNoScale: Guard = ({ operation: { id, kind } }) =>
  kind === 'scale' ? wrong(`${id} is a scale, and makes no release.`) : null

/** What it is done to is what visitors are on. */
export const hasLive: Guard = ({ operation, live }) =>
  live === null ? wrong(`Nothing is live that ${operation.id} could be done to.`) : null

/** Nothing has gone live since it began. */
export const isOfLive: Guard = ({ operation, live }) =>
  live?.number === operation.release ? null : wrong(`Release ${operation.release} is not live.`)

export const isScale: Guard = ({ operation: { id, kind } }) => (kind === 'scale' ? null : wrong(`${id} is no scale.`))

export const isPresentStep: OperationGuard<'passed'> = ({ operation: { id, steps } }, { step }) => {
  const present = steps.find(({ state }) => state === 'running')?.name
  return present === step ? null : wrong(`The present step of ${id} is ${present ?? 'none'}, not ${step}.`)
}

export const isClaimed: Guard = ({ operation: { id, switchAt } }) =>
  switchAt === null ? wrong(`${id} has not claimed its switch.`) : null

/** There is somebody to go back to, and to go back from. */
export const mayReturn: OperationGuard<'returned'> = ({ release }, { before }) => {
  if (release?.state !== 'live') return wrong(`Release ${release?.number} is ${release?.state}.`)
  const isThere = before.state === 'superseded' && before.retiredAt === null && before.number < release.number
  return isThere ? null : wrong(`Release ${before.number} is ${before.state}, and no way back.`)
}

/** A live one is never retired. */
export const isOverWith: Guard = ({ release }) =>
  release?.state === 'failed' || release?.state === 'superseded'
    ? null
    : wrong(`Release ${release?.number} is ${release?.state}.`)
