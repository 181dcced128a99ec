/** What may be asked of a dev instance, and how each is answered when it is decided (rules/devinstance.md#over-rest). */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { committedMicroUsd } from '../../crds/devinstance/life/row.ts'
import { centsOf } from '../../crds/devinstance/sizing/prices.ts'
import { sizingOf } from '../../crds/devinstance/sizing/repo.ts'
import {
  devInstanceItem,
  reservationExpiresAt,
  type ShownDevInstance,
  type StoredDevInstance,
  tombstoneOf,
} from '../../crds/devinstance/view.ts'
import {
  type Command,
  type CommandGoal,
  type FactGoal,
  type GenerationGoal,
  judgeFact,
  judgeGeneration,
} from '../command/command.ts'
import type { Judgement } from '../command/look.ts'
import { refuseStalled } from '../command/verdict.ts'
import type { Answer } from '../http/route.ts'
import { budgetOf, detailOf, pathOf, shownOf } from './find.ts'
import type { AnsweringInstance } from './needs.ts'
import { type Asked, isAccepted } from './ruling.ts'

type DevInstanceRow = MirrorRow<StoredDevInstance>

const shown = async (deps: AnsweringInstance, stored: ShownDevInstance): Promise<Answer> => ({
  status: 200,
  body: { devbox: await detailOf(deps, stored) },
})

/** What a call keeps beside the number of its fact, for its answer or its refusal. */
export type Kept = Record<string, unknown> & Asked

/** A call of the protocol: `show` answers one that was accepted, or that changes nothing. */
export type CallCommand<K extends Kept> = Command<FactGoal & K, StoredDevInstance, AnsweringInstance> & {
  show(deps: AnsweringInstance, stored: ShownDevInstance, kept: K): Promise<Answer>
}

/** One that is not entered is another life of the name. */
const judgeCall = (goal: FactGoal, row: DevInstanceRow | undefined): Judgement =>
  row !== undefined && row.view.box === null ? 'remade' : judgeFact(goal, row)

/** With its tombstone. */
const enteredOf = (row: DevInstanceRow | undefined): ShownDevInstance | undefined =>
  row?.view.box ? { ...row.view, box: row.view.box } : undefined

const calling = <K extends Kept>({ name, show }: Pick<CallCommand<K>, 'name' | 'show'>): CallCommand<K> => ({
  name,
  kind: DEVINSTANCE,
  judge: judgeCall,
  show,
  async answer(deps, _asking, goal, row) {
    const after = enteredOf(row)
    return after && (await isAccepted(deps, after, goal)) ? show(deps, after, goal) : null
  },
})

/** Most of the protocol: answered with the whole instance. */
export const callCommand = calling<Kept>({ name: 'devinstance.call', show: shown })

/** Answers with the sizing that follows from what was measured. */
export const measureCommand = calling<Kept>({
  name: 'devinstance.measure',
  async show(deps, { owner, box: instance }) {
    const budget = await budgetOf(deps, owner)
    // what it is committed to itself is its own to spend on another size
    const othersMicroUsd = budget.committedMicroUsd - committedMicroUsd(instance)
    const left = Math.max(0, centsOf(budget.capMicroUsd) - centsOf(othersMicroUsd))
    return { status: 200, body: sizingOf(instance, left) }
  },
})

/** The token stands nowhere but in the goal, which is sealed. */
export const tokenCommand = calling<Kept & { token: string }>({
  name: 'devinstance.token',
  show: async (deps, stored, { token }) => ({ status: 201, body: { token, devbox: await detailOf(deps, stored) } }),
})

/** Said of one that was deleted. No row takes it in: whoever leads finds it in the ledger (controllers/workers/pending-facts.ts). */
export const deletedCommand: Command<FactGoal & Kept & { id: string }, StoredDevInstance, AnsweringInstance> = {
  name: 'devinstance.deleted',
  kind: DEVINSTANCE,
  ofDeleted: true,
  isPatient: true,
  judge: () => 'decided',
  async answer(deps, _asking, goal) {
    const kept = await deps.devInstances.tombstone(goal.id)
    const after = kept && tombstoneOf(kept)
    return after && (await isAccepted(deps, after, goal)) ? shown(deps, after) : null
  },
}

const replaceEnv = calling<Kept & { key: string; keys: string[] }>({
  name: 'devinstance.env',
  show: async (_deps, _stored, { keys }) => ({ status: 200, body: { keys } }),
})

/** What was sealed for a call that is refused can never be read. */
export const envCommand: typeof replaceEnv = {
  ...replaceEnv,
  async finish(deps, { name, goal }, refusal) {
    if (refusal !== null) await deps.devInstances.dropEnv(name, goal.key)
  },
}

const bury = calling<Kept & { tombstone: ShownDevInstance }>({
  name: 'devinstance.delete',
  show: async (deps, stored) => ({
    status: 200,
    body: { devbox: devInstanceItem(stored, deps.now().toISOString()) },
  }),
})

/** The resource may have been removed before this one has seen it: then it is told as it was to become. */
export const deleteCommand: typeof bury = {
  ...bury,
  judge: (goal, row) => (row === undefined ? 'decided' : bury.judge(goal, row)),
  async answer(deps, _asking, goal, row) {
    const after = enteredOf(row) ?? goal.tombstone
    return (await isAccepted(deps, after, goal)) ? bury.show(deps, after, goal) : null
  },
}

const isTombstone = (row: DevInstanceRow | undefined): boolean => row?.view.box != null && shownOf(row) === undefined

export const changeCommand: Command<GenerationGoal, StoredDevInstance, AnsweringInstance> = {
  name: 'devinstance.change',
  kind: DEVINSTANCE,
  judge: (goal, row) => (isTombstone(row) ? 'gone' : judgeGeneration(goal, row)),
  async answer(deps, _asking, _goal, row) {
    const stored = shownOf(row)
    return stored ? shown(deps, stored) : null
  },
}

/** Decided once it is entered, or stalled for good. One that was never seen has no row yet. */
export const reserveCommand: Command<{ uid: string }, StoredDevInstance, AnsweringInstance> = {
  name: 'devinstance.reserve',
  kind: DEVINSTANCE,
  judge({ uid }, row) {
    if (row === undefined) return 'pending'
    if (row.uid !== uid) return 'remade'
    if (isTombstone(row)) return 'gone'
    return row.view.box !== null || row.view.stalled !== null ? 'decided' : 'pending'
  },
  async answer(deps, _asking, _goal, row) {
    if (row === undefined) return null
    const stored = shownOf(row)
    if (!stored) {
      refuseStalled(row)
      return null
    }
    const { id } = stored
    return {
      status: 201,
      headers: { location: pathOf(id) },
      body: {
        devbox: await detailOf(deps, stored),
        bootstrapUrl: `${deps.publicUrl}${pathOf(id)}/bootstrap`,
        reservationExpiresAt: reservationExpiresAt(stored.box),
        // The cloud makes one instance of it, however often the launch is repeated.
        clientToken: id,
      },
    }
  },
}

export const devInstanceCommands: readonly Command<CommandGoal, unknown, AnsweringInstance>[] = [
  reserveCommand,
  changeCommand,
  callCommand,
  measureCommand,
  tokenCommand,
  envCommand,
  deleteCommand,
  deletedCommand,
]
