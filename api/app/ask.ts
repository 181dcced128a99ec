/**
 * Asking for an operation: it is entered as queued, then the resource is made to ask for it, then its end is waited for
 * (rules/app.md#operations). A retry finds what its first try entered.
 */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { APP } from '../../crds/app/kind.ts'
import type { AppSpec } from '../../crds/app/schema.ts'
import { viewOperation, viewRelease } from '../../crds/app/view.ts'
import type { AppIntent, Operation } from '../../crds/app/world.ts'
import { editSpec } from '../command/edit.ts'
import { nameFor } from '../command/name.ts'
import { sameOwner } from '../command/own.ts'
import { accepted, wantsAsync } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { ownOperation, viewOf } from './read.ts'

const isEnded = (row: MirrorRow | undefined, id: string): boolean =>
  row === undefined || viewOf(row).operations_ended.includes(id)

const answerOf = (operation: Operation, more: object): Answer =>
  accepted(`/api/apps/operations/${operation.id}`, {
    operation_id: operation.id,
    operation: viewOperation(operation),
    ...more,
  })

const enter = async (deps: Deps, request: ApiRequest, app: string, intent: AppIntent): Promise<Operation> => {
  const { account } = request.caller
  const id = nameFor('op', request)
  const decision = await deps.apps.ask({ id, app, account, intent, at: deps.now().toISOString() })
  if (decision.state === 'refused') throw new Problem(decision.refusal.code, decision.refusal.detail)
  return decision.operation
}

/** What the resource asks for from now on, unless somebody asked for more meanwhile. */
const write = (deps: Deps, row: MirrorRow, { n }: Operation, desire: Record<string, unknown>) =>
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
  }: { row: MirrorRow; intent: AppIntent; desire: Record<string, unknown>; more?: object },
): Promise<Answer> => {
  const watched = deps.waiter.watch('App', row.name, sameOwner(row))
  try {
    const operation = await enter(deps, request, row.name, intent)
    await write(deps, row, operation, desire)
    if (wantsAsync(request)) return answerOf(operation, more)
    const now = await deps.mirror.get('App', row.name, sameOwner(row))
    const done = (found: MirrorRow | undefined) => isEnded(found, operation.id)
    const found = done(now) ? { row: now } : await watched.until(done)
    const ended = (await deps.apps.operation(operation.id)) ?? operation
    if (!found?.row || ended.endedAt === null) return answerOf(ended, more)
    return { status: 200, body: await endedBody(deps, ended, found.row, more) }
  } finally {
    watched.leave()
  }
}

const endedBody = async (deps: Deps, operation: Operation, row: MirrorRow, more: object) => {
  const made = operation.release === null ? undefined : await deps.apps.release(row.name, operation.release)
  return {
    operation_id: operation.id,
    operation: viewOperation(operation),
    ...(made && { release: viewRelease(made) }),
    app: viewOf(row),
    ...more,
  }
}

/** Asks the operation to stop, and waits for what comes of it. */
export const cancelOperation = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const operation = await ownOperation(deps, request)
  const { id, app } = operation
  const watched = deps.waiter.watch('App', app, sameOwner(operation))
  try {
    const decision = await deps.apps.cancel(operation, deps.now().toISOString())
    if (decision.state === 'refused') throw new Problem(decision.refusal.code, decision.refusal.detail)
    await deps.wake(APP, app)
    const now = await deps.mirror.get('App', app, sameOwner(operation))
    const done = (found: MirrorRow | undefined) => isEnded(found, id)
    if (!wantsAsync(request) && !done(now)) await watched.until(done)
    const ended = (await deps.apps.operation(id)) ?? operation
    const body = { operation_id: id, operation: viewOperation(ended) }
    return ended.endedAt === null ? answerOf(ended, {}) : { status: 200, body }
  } finally {
    watched.leave()
  }
}
