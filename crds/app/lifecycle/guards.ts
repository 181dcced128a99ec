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

export const isPresentStep: OperationGuard<'passed'> = ({ operation: { id, steps } }, { step }) => {
  const present = steps.find(({ state }) => state === 'running')?.name
  return present === step ? null : wrong(`The present step of ${id} is ${present ?? 'none'}, not ${step}.`)
}

export const isClaimed: Guard = ({ operation: { id, switchAt } }) =>
  switchAt === null ? wrong(`${id} has not claimed its switch.`) : null

/** A live one is never retired. */
export const isOverWith: Guard = ({ release }) =>
  release?.state === 'failed' || release?.state === 'superseded'
    ? null
    : wrong(`Release ${release?.number} is ${release?.state}.`)
