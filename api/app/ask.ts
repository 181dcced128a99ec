/**
 * Asking for an operation: it is entered as queued, then the resource is made to ask for it, then its end is waited for
 * (rules/app.md#operations). A retry finds what its first try entered.
 */

import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { APP } from '../../crds/app/kind.ts'
import type { AppSpec } from '../../crds/app/schema.ts'
import type { AppView } from '../../crds/app/view.ts'
import { viewOperation, viewRelease } from '../../crds/app/view.ts'
import type { AppIntent, Operation } from '../../crds/app/world.ts'
import { isDeepStrictEqual } from '../../crds/values/compare.ts'
import { editSpec } from '../command/edit.ts'
import { nameFor } from '../command/name.ts'
import { sameOwner } from '../command/own.ts'
import { accepted, wantsAsync } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { ownOperation } from './read.ts'

/** Operations of one app that wait or run. */
export const QUEUE_MAX = 10

const isEnded = (row: MirrorRow<AppView> | undefined, id: string): boolean =>
  row === undefined || row.view.operations_ended.includes(id)

const answerOf = (operation: Operation, more: object): Answer =>
  accepted(`/api/apps/operations/${operation.id}`, {
    operation_id: operation.id,
    operation: viewOperation(operation),
    ...more,
  })

const enter = async (deps: Deps, request: ApiRequest, app: string, intent: AppIntent): Promise<Operation> => {
  const { account } = request.caller
  const id = nameFor('op', request)
  const open = await deps.apps.open(app)
  const last = open.at(-1)
  // Asked twice for the same, without a key: it is one request, as long as it waits or runs.
  if (last && last.cancelAt === null && isDeepStrictEqual(last.intent, intent)) return last
  if (open.length >= QUEUE_MAX && !open.some((one) => one.id === id)) {
    throw new Problem('QUEUE_FULL', `${QUEUE_MAX} operations of ${app} wait or run already.`)
  }
  const operation = await deps.apps.ask({ id, app, account, intent, at: deps.now().toISOString() })
  if (!operation) throw new Problem('IDEMPOTENCY_MISMATCH', 'The key was used for an operation of another app.')
  return operation
}

/** What the resource asks for from now on, unless somebody asked for more meanwhile. */
const write = (deps: Deps, row: MirrorRow<AppView>, { n }: Operation, desire: Record<string, unknown>) =>
  editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, (spec) =>
    spec.asked >= n ? null : { ...desire, asked: n },
  )

/**
 * @param desire the merge patch of the spec that says the same as the intent
 * @param more goes beside the operation into the answer
 */
export const askFor = async (
  deps: Deps,
  request: ApiRequest,
  {
    row,
    intent,
    desire,
    more = {},
  }: { row: MirrorRow<AppView>; intent: AppIntent; desire: Record<string, unknown>; more?: object },
): Promise<Answer> => {
  const watched = deps.waiter.watch(APP, row.name, sameOwner(row))
  try {
    const operation = await enter(deps, request, row.name, intent)
    await write(deps, row, operation, desire)
    if (wantsAsync(request)) return answerOf(operation, more)
    const now = await deps.mirror.get(APP, row.name, sameOwner(row))
    const done = (found: MirrorRow<AppView> | undefined) => isEnded(found, operation.id)
    const found = done(now) ? { row: now } : await watched.until(done)
    const ended = (await deps.apps.operation(operation.id)) ?? operation
    if (!found?.row || ended.endedAt === null) return answerOf(ended, more)
    return { status: 200, body: await endedBody(deps, ended, found.row, more) }
  } finally {
    watched.leave()
  }
}

const endedBody = async (deps: Deps, operation: Operation, row: MirrorRow<AppView>, more: object) => {
  const made = operation.release === null ? undefined : await deps.apps.release(row.name, operation.release)
  return {
    operation_id: operation.id,
    operation: viewOperation(operation),
    ...(made && { release: viewRelease(made) }),
    app: row.view,
    ...more,
  }
}

/** Asks the operation to stop, and waits for what comes of it. */
export const cancelOperation = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const operation = await ownOperation(deps, request)
  const { id, app } = operation
  const watched = deps.waiter.watch(APP, app, sameOwner(operation))
  try {
    const outcome = await deps.apps.cancel(id, request.caller.account, deps.now().toISOString())
    if (outcome === 'too_late') {
      throw new Problem('TOO_LATE', `Visitors are on release ${operation.release} already.`)
    }
    if (outcome === 'ended') throw new Problem('TOO_LATE', `${id} has ended: ${operation.state}.`)
    await deps.wake(APP, app)
    const now = await deps.mirror.get(APP, app, sameOwner(operation))
    const done = (found: MirrorRow<AppView> | undefined) => isEnded(found, id)
    if (!wantsAsync(request) && !done(now)) await watched.until(done)
    const ended = (await deps.apps.operation(id)) ?? operation
    const body = { operation_id: id, operation: viewOperation(ended) }
    return ended.endedAt === null ? answerOf(ended, {}) : { status: 200, body }
  } finally {
    watched.leave()
  }
}
