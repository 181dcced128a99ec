/** What may be asked of an app, and how each is answered when it is decided (rules/app.md#operations). */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { APP } from '../../crds/app/kind.ts'
import { type AppView, viewOperation, viewRelease } from '../../crds/app/view.ts'
import type { Operation } from '../../crds/app/world.ts'
import type { ProblemCode } from '../../crds/kernel/problem.ts'
import { type Command, type CommandGoal, type GenerationGoal, judgeGeneration } from '../command/command.ts'
import type { Judgement } from '../command/look.ts'
import { deleting } from '../command/resource.ts'
import { refuseStalled } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Deps } from '../wiring/deps.ts'
import { backupCommand, cancelBackupCommand, drainCommand, restoreCommand } from './keeping/commands.ts'
import type { AnsweringApp } from './needs.ts'
import { applyCommand } from './publishing/applying.ts'
import { createPreviewCommand, deletePreviewCommand } from './publishing/previews/commands.ts'
import { pathOf } from './read.ts'
import { cancelRunCommand, runCommand } from './running/commands.ts'

export const createCommand: Command<{ uid: string }, AppView> = {
  name: 'app.create',
  kind: APP,
  judge({ uid }, row) {
    if (row === undefined) return 'pending'
    return row.uid === uid ? 'decided' : 'remade'
  },
  async answer(_deps, _asking, _goal, row) {
    if (row === undefined) return null
    refuseStalled(row)
    return { status: 201, headers: { location: pathOf(row.name) }, body: { app: row.view } }
  },
}

/** A release that failed is told by the app's own fields: it refuses no other change. */
const refuseNews = (row: MirrorRow<AppView>): void => {
  const { stalled } = row.view
  if (stalled?.code === 'PASSWORD_REQUIRED' || stalled?.code === 'SLUG_TAKEN') {
    throw new Problem(stalled.code, stalled.detail)
  }
}

export const changeCommand: Command<GenerationGoal, AppView> = {
  name: 'app.change',
  kind: APP,
  judge: judgeGeneration,
  async answer(_deps, _asking, _goal, row) {
    if (row === undefined) return null
    refuseNews(row)
    return { status: 200, body: { app: row.view } }
  },
}

const ROOM_CODES: ReadonlySet<string> = new Set(['HOST_FULL', 'BUDGET_REFUSED', 'REPLICAS_REFUSED'])

/** What runs has been given it, or keeps what it had. */
export const budgetCommand: Command<GenerationGoal, AppView> = {
  ...changeCommand,
  name: 'app.budget',
  async answer(deps, asking, goal, row) {
    const stalled = row?.view.stalled
    if (stalled && ROOM_CODES.has(stalled.code)) {
      throw new Problem(stalled.code as ProblemCode, stalled.detail.replace(/^[A-Z_]+: /, ''))
    }
    return changeCommand.answer(deps, asking, goal, row)
  },
}

export const deleteCommand = deleting('app.delete', APP)

/** What is stored of an env: its version, and the names in it. */
export type EnvGoal = { version: number; keys: string[] }

export const envCommand: Command<EnvGoal, AppView> = {
  name: 'app.env',
  kind: APP,
  judge({ version }, row) {
    if (row === undefined) return 'gone'
    return (row.view.env.stored_version ?? 0) >= version ? 'decided' : 'pending'
  },
  async answer(_deps, _asking, { version, keys }, row) {
    if (row === undefined) return null
    const { applied_version } = row.view.env
    return { status: 200, body: { env: { stored_version: version, applied_version, keys } } }
  },
}

/** `more` goes beside the operation into the answer. */
type OperationGoal = { operation: string; more: object }

const judgeOperation = ({ operation }: { operation: string }, row: MirrorRow<AppView> | undefined): Judgement => {
  if (row === undefined) return 'gone'
  return row.view.operations_ended.includes(operation) ? 'decided' : 'pending'
}

const endedOperation = async ({ apps }: Pick<Deps, 'apps'>, id: string): Promise<Operation | null> => {
  const operation = await apps.operation(id)
  return operation?.endedAt ? operation : null
}

export const operateCommand: Command<OperationGoal, AppView, AnsweringApp> = {
  name: 'app.operate',
  kind: APP,
  judge: judgeOperation,
  async answer(deps, _asking, { operation: id, more }, row) {
    const operation = await endedOperation(deps, id)
    if (row === undefined || operation === null) return null
    const made = operation.release === null ? undefined : await deps.apps.release(row.name, operation.release)
    const release = made && { release: viewRelease(made) }
    const body = { operation_id: id, operation: viewOperation(operation), ...release, app: row.view, ...more }
    return { status: 200, body }
  },
}

export const cancelCommand: Command<{ operation: string }, AppView, AnsweringApp> = {
  name: 'app.cancel',
  kind: APP,
  judge: judgeOperation,
  async answer(deps, _asking, { operation: id }) {
    const operation = await endedOperation(deps, id)
    return operation && { status: 200, body: { operation_id: id, operation: viewOperation(operation) } }
  },
}

export const appCommands: readonly Command<CommandGoal, unknown, AnsweringApp>[] = [
  createCommand,
  changeCommand,
  budgetCommand,
  deleteCommand,
  envCommand,
  operateCommand,
  cancelCommand,
  applyCommand,
  runCommand,
  cancelRunCommand,
  backupCommand,
  restoreCommand,
  cancelBackupCommand,
  drainCommand,
  createPreviewCommand,
  deletePreviewCommand,
]
