/**
 * The one way of a command: watch, act, look, wait with a bound, and answer with the verdict or where it will stand
 * (rules/platform.md#bounded-wait). Every change of desire and every report of a fact goes through here.
 *
 * Once something was stored nobody is told to send it again: where the control plane or the ledger is away after that, the
 * verdict is still to come (202), and whoever leads finds what is pending (controllers/workers/pending-facts.ts).
 */
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { isAway } from '../../controllers/store/pg/away.ts'
import type { StoredOperation } from '../../controllers/store/request/operations.ts'
import type { KindOf } from '../../crds/kernel/kind.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Command, CommandGoal, Judgement } from './command.ts'
import { enterOperation, judgeOperation, operationPath } from './operation.ts'
import type { Whose } from './own.ts'
import { accepted, wantsAsync } from './verdict.ts'
import { WAIT_MS, type Watched } from './wait.ts'

/** How long a request is followed after it was answered 202. */
const FOLLOW_MS = 10 * 60_000

type Watching<View> = { kind: KindRef & KindOf<View>; name: string; whose: Whose }

/** The resource went while its verdict was waited for. */
export class DeletedMeanwhile extends Problem {
  override name = 'DeletedMeanwhile'
  constructor(name: string) {
    super('NOT_FOUND', `${name} was deleted while this was waited for; nothing more comes of it.`)
  }
}

/** What comes after something was stored: null where a part is away, and the verdict still to come. */
export const afterStored = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (isAway(error)) return null
    throw error
  })

/** Watches from before the change until the answer, or for longer where `keep` is called. */
const underWatch = async <View, T>(
  deps: Pick<Deps, 'waiter'>,
  { kind, name, whose }: Watching<View>,
  use: (watched: Watched<View>, keep: () => void) => Promise<T>,
): Promise<T> => {
  const watched = deps.waiter.watch(kind, name, whose)
  let isKept = false
  try {
    return await use(watched, () => {
      isKept = true
    })
  } finally {
    if (!isKept) watched.leave()
  }
}

type Judging<Goal, View, Outcome> = {
  judge(goal: Goal, row: MirrorRow<View> | undefined): Judgement
  conclude(goal: Goal, row: MirrorRow<View> | undefined): Promise<Outcome | null>
  /** Looks once. */
  isAsync?: boolean
  isPatient?: boolean
  /** WAIT_MS when left out. */
  waitMs?: number
}

/** Who waits takes what stands, whatever else has been taken in with it. */
const isDecided = (judgement: Judgement): boolean => judgement === 'decided' || judgement === 'overtaken'

const lookUntil = async <Goal, View, Outcome>(
  deps: Pick<Deps, 'mirror'>,
  { kind, name, whose }: Watching<View>,
  { judge, conclude, isAsync, isPatient, waitMs = WAIT_MS }: Judging<Goal, View, Outcome>,
  { goal, watched }: { goal: Goal; watched: Watched<View> },
): Promise<Outcome | null> => {
  const endMs = performance.now() + waitMs
  let row = await deps.mirror.get(kind, name, whose)
  for (;;) {
    const judgement = judge(goal, row)
    if (judgement === 'gone') throw new DeletedMeanwhile(name)
    const isTaken = isDecided(judgement)
    const outcome = isTaken ? await conclude(goal, row) : null
    if (outcome !== null || isAsync || (isTaken && !isPatient)) return outcome
    const isNews = (now: MirrorRow<View> | undefined) =>
      isTaken || judge(goal, now) === 'gone' || isDecided(judge(goal, now))
    const found = await watched.until(isNews, endMs - performance.now())
    if (found === null) return null
    row = found.row
  }
}

/**
 * For what is no request of its own: acts, and gives what came of it.
 * @returns null when the time was up, or a part is away @throws DeletedMeanwhile; what `act` and `conclude` throw
 */
export const waitFor = <Goal, View, Outcome>(
  deps: Pick<Deps, 'waiter' | 'mirror'>,
  asked: Watching<View> & Judging<Goal, View, Outcome> & { act(): Promise<Goal> },
): Promise<Outcome | null> =>
  underWatch(deps, asked, async (watched) => {
    const goal = await asked.act()
    return afterStored(lookUntil(deps, asked, asked, { goal, watched }))
  })

export type CommandCall<Goal> = {
  name: string
  whose: Whose
  /** Where the resource is read over REST. */
  resource: string
  /** What a 202 shows of it, beside the id of the operation. */
  pending: object | ((goal: Goal) => Promise<object>)
  /** Writes desire, or appends a fact and wakes. @returns what decides it */
  act(): Promise<Goal>
  /** Where its verdict stands in other words too; and its id there, when the operation is to have the same. */
  operation?(goal: Goal): { id?: string; path: string }
}

/** The verdict is kept when it comes, though nobody waits for it any more. */
const followed =
  <View>(
    deps: Deps,
    command: Command<CommandGoal, View>,
    stored: StoredOperation,
    { watched, request }: { watched: Watched<View>; request: ApiRequest },
  ) =>
  async (): Promise<void> => {
    const { goal } = stored.goal as { goal: CommandGoal }
    const endMs = performance.now() + FOLLOW_MS
    let isNews = (row: MirrorRow<View> | undefined): boolean => command.judge(goal, row) !== 'pending'
    try {
      for (let state = stored.state; state === 'pending'; ) {
        const found = await watched.until(isNews, endMs - performance.now())
        if (found === null) return
        state = (await judgeOperation(deps, command, stored, { row: found.row, asking: request })).state
        isNews = () => true
      }
    } finally {
      watched.leave()
    }
  }

/** On a page nobody has called who could read an operation. */
const hasCaller = ({ caller }: Partial<Pick<ApiRequest, 'caller'>>): boolean => caller !== undefined

/**
 * @returns the command's answer, or 202 with the Location of its operation, where the same answer will stand
 * @throws Problem as the command was refused, DeletedMeanwhile; what `act` throws
 */
export const settle = <Goal extends CommandGoal, View>(
  deps: Deps,
  request: ApiRequest,
  command: Command<Goal, View>,
  asked: CommandCall<Goal>,
): Promise<Answer> => {
  const { name, whose, resource, pending } = asked
  const watching = { kind: command.kind, name, whose }
  const judging: Judging<Goal, View, Answer> = {
    judge: command.judge,
    conclude: (goal, row) => command.answer(deps, request, goal, row),
    isAsync: wantsAsync(request),
    isPatient: command.isPatient === true,
  }
  return underWatch(deps, watching, async (watched, keep) => {
    const goal = await asked.act()
    const answer = await afterStored(lookUntil(deps, watching, judging, { goal, watched }))
    if (answer !== null) return answer
    const body = typeof pending === 'function' ? await pending(goal) : pending
    if (request.audited) request.audited.resource ??= resource
    const own = asked.operation?.(goal)
    const entry = { ...watching, command: command.name, goal, resource, ...(own?.id !== undefined && { id: own.id }) }
    const stored = hasCaller(request) ? await afterStored(enterOperation(deps, request, entry)) : null
    // The verdict is still to come, and is seen at the resource itself.
    if (stored === null) return accepted(own?.path ?? resource, body)
    if (deps.follow(followed(deps, command, stored, { watched, request }))) keep()
    const { id } = stored
    return { ...accepted(own?.path ?? operationPath(id), { operation_id: id, ...body }), operation: id }
  })
}
