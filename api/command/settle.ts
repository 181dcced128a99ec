/**
 * The one way of a command: watch, act, look, wait with a bound, and answer with the verdict or where it will stand
 * (rules/platform.md#bounded-wait). Every change of desire and every report of a fact goes through here.
 *
 * Once something was stored nobody is told to send it again: where the control plane or the ledger is away after that, the
 * verdict is still to come (202), and whoever leads finds what is pending (controllers/workers/pending-facts.ts).
 */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import type { StoredOperation } from '../../controllers/store/request/operations.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Settling } from '../wiring/deps.ts'
import { type Command, type CommandGoal, conclude } from './command.ts'
import { afterStored, type Judging, lookUntil, underWatch } from './look.ts'
import { enterOperation, judgeOperation, type NewEntry, operationPath } from './operation.ts'
import type { Whose } from './own.ts'
import { accepted, wantsAsync } from './verdict.ts'
import type { Watched } from './wait.ts'

/** How long a request is followed after it was answered 202. */
const FOLLOW_MS = 10 * 60_000

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
  <View, Needs>(
    deps: Settling & NoInfer<Needs>,
    command: Command<CommandGoal, View, Needs>,
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

/** @returns null where there is nobody who could read it, or a part is away */
const enterFor = async (deps: Settling, request: ApiRequest, entry: NewEntry): Promise<StoredOperation | null> =>
  hasCaller(request) ? afterStored(enterOperation(deps, request, entry)) : null

/** What nobody hears stands where whoever asks again looks for it. */
const heard = async ({ isGone }: ApiRequest, enter: () => Promise<unknown>, answer: Answer): Promise<Answer> => {
  if (isGone?.()) await enter()
  return answer
}

/**
 * @returns the command's answer, or 202 with the Location of its operation, where the same answer will stand
 * @throws Problem as the command was refused, DeletedMeanwhile; what `act` throws
 */
export const settle = <Goal extends CommandGoal, View, Needs>(
  deps: Settling & NoInfer<Needs>,
  request: ApiRequest,
  command: Command<Goal, View, Needs>,
  asked: CommandCall<Goal>,
): Promise<Answer> => {
  const { name, whose, resource, pending } = asked
  const watching = { kind: command.kind, name, whose }
  const judging: Judging<Goal, View, Answer> = {
    judge: command.judge,
    conclude: (goal, row) => conclude(deps, command, { name, goal, asking: request }, row),
    ...(command.isNew && { isNew: command.isNew }),
    isAsync: wantsAsync(request),
    isPatient: command.isPatient === true,
  }
  return underWatch(deps, watching, async (watched, keep) => {
    const goal = await asked.act()
    const own = asked.operation?.(goal)
    const entry = { ...watching, command: command.name, goal, resource, ...(own?.id !== undefined && { id: own.id }) }
    const enter = () => enterFor(deps, request, entry)
    const answer = await afterStored(lookUntil(deps, watching, judging, { goal, watched }))
    if (answer !== null) return heard(request, enter, answer)
    const body = typeof pending === 'function' ? await pending(goal) : pending
    if (request.audited) request.audited.resource ??= resource
    const stored = await enter()
    // The verdict is still to come, and is seen at the resource itself.
    if (stored === null) return accepted(own?.path ?? resource, body)
    if (deps.follow(followed(deps, command, stored, { watched, request }))) keep()
    const { id } = stored
    return { ...accepted(own?.path ?? operationPath(id), { operation_id: id, ...body }), operation: id }
  })
}
