/** What may be asked of a host, and how each is answered when it is decided (rules/host.md#the-host). */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { HOST } from '../../crds/host/kind.ts'
import type { HostView } from '../../crds/host/view.ts'
import {
  type Asking,
  type Command,
  type FactGoal,
  type GenerationGoal,
  judgeFact,
  judgeGeneration,
} from '../command/command.ts'
import { deleting } from '../command/resource.ts'
import type { Answer } from '../http/route.ts'
import { pathOf, shown } from './read.ts'

type HostRow = MirrorRow<HostView>

const hostAnswer = ({ caller }: Asking, { account, view }: HostRow, more: Omit<Answer, 'body'>): Answer => ({
  ...more,
  body: { host: shown(caller, account, view) },
})

/** One that was never seen has no row yet. */
export const createCommand: Command<GenerationGoal, HostView> = {
  name: 'host.create',
  kind: HOST,
  judge: (goal, row) => (row === undefined ? 'pending' : judgeGeneration(goal, row)),
  answer: async (_deps, asking, _goal, row) =>
    row === undefined ? null : hostAnswer(asking, row, { status: 201, headers: { location: pathOf(row.name) } }),
}

export const changeCommand: Command<GenerationGoal, HostView> = {
  name: 'host.change',
  kind: HOST,
  judge: judgeGeneration,
  answer: async (_deps, asking, _goal, row) => (row === undefined ? null : hostAnswer(asking, row, { status: 200 })),
}

/** A look is taken, never refused: the row that has taken it in says what was found. */
export const inspectCommand: Command<FactGoal, HostView> = {
  name: 'host.inspect',
  kind: HOST,
  judge: judgeFact,
  answer: async (_deps, asking, _goal, row) => (row === undefined ? null : hostAnswer(asking, row, { status: 200 })),
}

export const deleteCommand = deleting('host.delete', HOST)

export const hostCommands = [createCommand, changeCommand, inspectCommand, deleteCommand] as const
