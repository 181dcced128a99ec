/**
 * An operation: where the verdict of a request stands that was answered 202 (rules/platform.md#operations). It is written
 * with that answer and no sooner. Its verdict is kept by whoever sees it first: the process that took the request in and
 * goes on watching, or the one that is asked for it.
 */
import { isNotFound } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import type { StoredOperation, VerdictState } from '../../controllers/store/request/operations.ts'
import type { Fault, ProblemCode } from '../../crds/kernel/problem.ts'
import { refuseOutside } from '../auth/authorise.ts'
import type { Caller } from '../http/caller.ts'
import { Problem, problemBody } from '../http/problem.ts'
import type { Answer, ApiRequest, RouteScope } from '../http/route.ts'
import type { Deps, ReadingVerdicts, Writing } from '../wiring/deps.ts'
import { type Asking, type Command, type CommandGoal, conclude } from './command.ts'
import type { Judgement } from './look.ts'
import { readOwn } from './make.ts'
import { nameFor } from './name.ts'
import type { Whose } from './own.ts'

export const operationPath = (id: string): string => `/api/operations/${id}`

type Keeping = Pick<Deps, 'operations' | 'now'>

/** What is kept beside the columns, sealed. */
type KeptGoal = { goal: CommandGoal; whose: Whose; requestId: string }
type KeptProblem = {
  code: ProblemCode
  detail: string
  faults: Fault[]
  members: Record<string, unknown>
  headers: Record<string, string>
}
/** An answer, or a refusal. */
type KeptOutcome = { answer: Pick<Answer, 'status' | 'headers' | 'body'> } | { problem: KeptProblem }
type Ended = { state: Exclude<VerdictState, 'pending'>; outcome: KeptOutcome }

export type NewEntry = {
  kind: KindRef
  name: string
  whose: Whose
  command: string
  goal: CommandGoal
  resource: string
  /** Its own, where it is an operation in other respects too. */
  id?: string
}

/** Enters what is answered 202. The same id for each retry under one Idempotency-Key. */
export const enterOperation = (deps: Keeping, request: ApiRequest, entry: NewEntry): Promise<StoredOperation> => {
  const { kind, name, whose, command, goal, resource, id = nameFor('op', request) } = entry
  const { route, url, caller, requestId } = request
  const kept: KeptGoal = { goal, whose, requestId }
  return deps.operations.add({
    id,
    account: caller.account,
    method: route.method,
    path: url.split('?', 1)[0] ?? url,
    scope: route.scope,
    kind: kind.kind,
    name,
    resource,
    command,
    goal: kept,
    createdAt: deps.now().toISOString(),
  })
}

const keptOf = ({ code, message: detail, faults, members, headers }: Problem): KeptProblem => ({
  code,
  detail,
  faults,
  members,
  headers,
})

const WHY_UNKNOWN = {
  overtaken: 'was changed again before a verdict on this change could be seen',
  remade: 'was deleted and made again before a verdict could be seen',
  gone: 'was deleted before a verdict could be seen',
} as const

const unknownEnd = (
  judgement: keyof typeof WHY_UNKNOWN,
  { name, resource }: { name: string; resource: string },
): Ended => {
  const detail = `${name} ${WHY_UNKNOWN[judgement]}; how it stands is at ${resource}.`
  return { state: 'unknown', outcome: { problem: keptOf(new Problem('OUTCOME_UNKNOWN', detail)) } }
}

export type Judged = { goal: CommandGoal; row: MirrorRow | undefined; asking: Asking; name: string; resource: string }

/** How a request ended by what a row says, or null while it says nothing. @throws what says that a part is away */
const endOf = async <Needs>(
  deps: Needs,
  command: Command<CommandGoal, unknown, Needs>,
  judged: Judged,
): Promise<Ended | null> => {
  const { goal, row } = judged
  const judgement: Judgement = command.judge(goal, row)
  if (judgement === 'pending') return null
  if (judgement !== 'decided') return unknownEnd(judgement, judged)
  try {
    const answer = await conclude(deps, command, judged, row)
    if (answer === null) return null
    const { status, headers, body } = answer
    return { state: 'succeeded', outcome: { answer: { status, ...(headers && { headers }), body } } }
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'UNAVAILABLE') throw error
    await command.giveBack?.(deps, { name: judged.name, goal }, error)
    return { state: 'refused', outcome: { problem: keptOf(error) } }
  }
}

const keepEnd = async (deps: Keeping, stored: StoredOperation, ended: Ended): Promise<StoredOperation> => {
  const at = deps.now().toISOString()
  return (await deps.operations.settle(stored.id, stored.account, { ...ended, at })) ?? stored
}

/** Keeps the verdict if there is one. @returns the operation as it stands then */
export const judgeOperation = async <Needs>(
  deps: Keeping & NoInfer<Needs>,
  command: Command<CommandGoal, unknown, Needs>,
  stored: StoredOperation,
  of: { row: MirrorRow | undefined; asking: Asking },
): Promise<StoredOperation> => {
  const { goal } = stored.goal as KeptGoal
  const ended = await endOf(deps, command, { ...of, goal, name: stored.name, resource: stored.resource })
  return ended === null ? stored : keepEnd(deps, stored, ended)
}

/** Nothing was seen of it yet, and nothing will be: what was made has been deleted since. */
const isAbsent = async (deps: Writing, of: { kind: KindRef; name: string; whose: Whose }): Promise<boolean> => {
  try {
    await readOwn(deps, of)
    return false
  } catch (error) {
    if (isNotFound(error) || (error instanceof Problem && error.code === 'NOT_FOUND')) return true
    throw error
  }
}

/** The commands by their names (api/wiring/commands.ts). */
export type Commands<Needs> = ReadonlyMap<string, Command<CommandGoal, unknown, Needs>>

/**
 * The operation as it stands now, for the account that asked, and a credential that may do what was asked.
 * @throws Problem NOT_FOUND, FORBIDDEN
 */
export const readOperation = async <Needs>(
  deps: ReadingVerdicts & NoInfer<Needs>,
  commands: Commands<Needs>,
  { id, caller }: { id: string; caller: Caller },
): Promise<StoredOperation> => {
  const stored = await deps.operations.get(id, caller.account)
  if (!stored) throw new Problem('NOT_FOUND', `There is no operation ${id}.`)
  refuseOutside(stored.scope as RouteScope, caller)
  const command = commands.get(stored.command)
  // of another version of this service, which may know what to make of it
  if (stored.state !== 'pending' || !command) return stored
  const { whose } = stored.goal as KeptGoal
  const row = await deps.mirror.get(command.kind, stored.name, whose)
  const judged = await judgeOperation(deps, command, stored, { row, asking: { caller } })
  // Of what left the cluster a view is kept, in which no change will show any more.
  const mayCome = command.ofDeleted === true || (row !== undefined && (command.reports === true || !row.archived))
  if (judged.state !== 'pending' || mayCome) return judged
  const isGone = await isAbsent(deps, { kind: command.kind, name: stored.name, whose })
  return isGone ? keepEnd(deps, stored, unknownEnd('gone', stored)) : judged
}

const problemOf = ({ code, detail, ...more }: KeptProblem): Problem => new Problem(code, detail, more)

/** What the caller would have been answered who waited; null while it is pending. @throws Problem as it was refused */
export const outcomeOf = ({ outcome }: StoredOperation): Answer | null => {
  if (outcome === null) return null
  const kept = outcome as KeptOutcome
  if ('problem' in kept) throw problemOf(kept.problem)
  return kept.answer
}

/** What GET shows. */
export const viewOfOperation = (stored: StoredOperation, publicUrl: string): object => {
  const { id, method, path, resource, state, createdAt, settledAt, outcome } = stored
  const { requestId } = stored.goal as KeptGoal
  const kept = outcome as KeptOutcome | null
  return {
    id,
    method,
    path,
    resource,
    state,
    ...(kept && 'answer' in kept && { status: kept.answer.status, result: kept.answer.body ?? null }),
    ...(kept && 'problem' in kept && { problem: problemBody(problemOf(kept.problem), requestId, publicUrl) }),
    created_at: createdAt,
    ...(settledAt !== null && { settled_at: settledAt }),
  }
}
