/**
 * Asking for an operation: it is entered as queued, then the resource is made to ask for it, then its end is waited for
 * (rules/app.md#operations). A retry finds what its first try entered.
 */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { APP } from '../../crds/app/kind.ts'
import type { AppSpec } from '../../crds/app/schema.ts'
import { type AppView, viewOperation } from '../../crds/app/view.ts'
import type { AppIntent, Operation } from '../../crds/app/world.ts'
import { editSpec } from '../command/edit.ts'
import { nameFor } from '../command/name.ts'
import { sameOwner } from '../command/own.ts'
import { settle } from '../command/settle.ts'
import { layingReady } from '../command/written.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { cancelCommand, operateCommand } from './commands.ts'
import { cancelBackup } from './keeping/cancel.ts'
import { ownBackup } from './keeping/own.ts'
import type { AppNeeds } from './needs.ts'
import { apps, operationPath, ownOperation } from './read.ts'
import { cancelRun } from './running/cancel.ts'
import { ownRun } from './running/read.ts'
import { refuseManifested } from './sources/manifest.ts'

/** An operation that waits or runs, as it stands now. */
const shownOf = async (deps: AppNeeds, operation: Operation) => ({
  operation_id: operation.id,
  operation: viewOperation((await deps.apps.operation(operation.id)) ?? operation),
})

/** `isNew`: this request entered it. */
type Entered = { operation: Operation; isNew: boolean }

const enter = async (deps: AppNeeds, request: ApiRequest, app: string, intent: AppIntent): Promise<Entered> => {
  const { account } = request.caller
  const id = nameFor('op', request)
  const decision = await deps.apps.ask({ id, app, account, intent, at: deps.now().toISOString() })
  if (decision.state === 'refused') throw new Problem(decision.refusal.code, decision.refusal.detail)
  return { operation: decision.operation, isNew: decision.state === 'accepted' }
}

/** The resource vouches for it from now on, unless somebody asked for more meanwhile. What a manifest says is not ours to say. */
const write = (deps: AppNeeds, row: MirrorRow<AppView>, { n }: Operation, desire: Record<string, unknown>) =>
  editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, (spec, object) => {
    if (spec.asked >= n) return null
    // How many run is scaled beside a manifest as it is anywhere in Kubernetes: who does not want that leaves it out of there.
    refuseManifested(
      object,
      Object.keys(desire).filter((field) => field !== 'replicas'),
    )
    return { ...desire, asked: n }
  })

/**
 * @param desire the merge patch of the spec that goes with the intent; what chooses a release is a manifest's (decision 073)
 * @param more goes beside the operation into the answer
 */
export const askFor = async (
  deps: AppNeeds,
  request: ApiRequest,
  {
    row,
    intent,
    desire,
    more = {},
  }: { row: MirrorRow<AppView>; intent: AppIntent; desire: Record<string, unknown>; more?: object },
): Promise<Answer> => {
  let operation: Operation
  return settle(deps, request, operateCommand, {
    ...apps.commandOn(row),
    async act() {
      await layingReady({
        lay: () => enter(deps, request, row.name, intent),
        use: (entered) => {
          operation = entered.operation
          return write(deps, row, operation, desire)
        },
        // the next that is asked for does not bring it along
        giveBack: async (entered) => entered.isNew && deps.apps.takeBack(entered.operation),
      })
      return { operation: operation.id, more }
    },
    pending: async () => ({ ...(await shownOf(deps, operation)), ...more }),
    operation: ({ operation: id }) => ({ id, path: operationPath(id) }),
  })
}

/** Asks the operation to stop, and waits for what comes of it. */
export const cancelOperation = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const run = await ownRun(deps, request)
  if (run) return cancelRun(deps, request, run)
  const backup = await ownBackup(deps, request)
  if (backup) return cancelBackup(deps, request, backup)
  const operation = await ownOperation(deps, request)
  const { id, app } = operation
  return settle(deps, request, cancelCommand, {
    name: app,
    whose: sameOwner(operation),
    resource: operationPath(id),
    async act() {
      const decision = await deps.apps.cancel(operation, deps.now().toISOString())
      if (decision.state === 'refused') throw new Problem(decision.refusal.code, decision.refusal.detail)
      await deps.wake(APP, app)
      return { operation: id }
    },
    pending: () => shownOf(deps, operation),
    operation: () => ({ path: operationPath(id) }),
  })
}
