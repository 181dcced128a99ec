/**
 * A call of the protocol: judged by the table against what stands, appended as a fact, and judged for good by the
 * controllers. What they say is the answer (rules/devinstance.md#calls-are-facts). A repeat under an Idempotency-Key finds
 * its own fact before anything is compared, so it succeeds though the version has moved on.
 */
import { randomUUID } from 'node:crypto'
import { isNotFound } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { gitOf } from '../../crds/devinstance/bootstrap/report.ts'
import { callFact } from '../../crds/devinstance/facts.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import type { Refusal } from '../../crds/devinstance/life/refusal.ts'
import { allowedActions, decide } from '../../crds/devinstance/life/transitions.ts'
import type { Said, Trigger } from '../../crds/devinstance/protocol.ts'
import { sizingOf } from '../../crds/devinstance/sizing/repo.ts'
import type { ShownDevInstance, StoredDevInstance } from '../../crds/devinstance/view.ts'
import type { By } from '../../crds/devinstance/world.ts'
import { isProblemCode } from '../../crds/kernel/problem.ts'
import type { Whose } from '../command/own.ts'
import { wakeStored } from '../command/report.ts'
import { afterStored } from '../command/settle.ts'
import { accepted, wantsAsync } from '../command/verdict.ts'
import type { Watched } from '../command/wait.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { detailOf, ownerOf, shownOf } from './find.ts'

export type TriggerCall<T extends Trigger> = {
  trigger: T
  said: Said[T]
  /** Names the call where it is not its Idempotency-Key that does. */
  key?: string
}

/** How a call ended: the row as it stands then, or null when the controllers have not said yet. */
export type Called = { stored: ShownDevInstance | null }

export const byOf = ({ caller }: Pick<ApiRequest, 'caller'>): By => ({
  account: caller.account,
  kind: caller.by.kind,
  id: caller.by.id,
})

/** The key of a call's fact: the same for each retry under one Idempotency-Key. */
export const callKey = (trigger: Trigger, { idempotencyKey }: Pick<ApiRequest, 'idempotencyKey'>): string =>
  `${trigger}:${idempotencyKey ?? randomUUID()}`

/**
 * What a refusal says beside its words: how the instance stands, and what may be done
 * (rules/devinstance.md#allowed-actions).
 */
const refuse = <T extends Trigger>(
  { code, detail, faults }: Refusal,
  { box: instance }: ShownDevInstance,
  call: TriggerCall<T>,
): never => {
  const members = {
    version: instance.version,
    state: instance.state,
    allowedActions: allowedActions(instance),
    ...(code === 'RESIZE_REQUIRED' && { sizing: neededFor(instance, call) }),
  }
  throw new Problem(code, `${detail}.`, { members, ...(faults && { faults }) })
}

const neededFor = <T extends Trigger>(instance: ShownDevInstance['box'], { said }: TriggerCall<T>) =>
  sizingOf({ ...instance, profile: (said as Said['repo']).profile, measurements: null })

const judge = async <T extends Trigger>(deps: Deps, stored: ShownDevInstance, call: TriggerCall<T>, at: string) => {
  const report = await deps.devInstances.lastReport(stored.id)
  const around = { git: report && gitOf(report.body) }
  return decide(call.trigger, { instance: stored.box, said: call.said, at, around })
}

/** What the controllers made of a fact; null when they have not said in time. @throws Problem when it was refused */
const verdictOn = async <T extends Trigger>(
  deps: Deps,
  { stored, call, seq }: { stored: ShownDevInstance; call: TriggerCall<T>; seq: number },
  watched: Watched<StoredDevInstance>,
): Promise<ShownDevInstance | null> => {
  const isJudged = (row: MirrorRow<StoredDevInstance> | undefined) => row === undefined || row.view.factSeq >= seq
  const now = await deps.mirror.get(DEVINSTANCE, stored.id, ownerOf(stored))
  const found = isJudged(now) ? { row: now } : await watched.until(isJudged)
  const verdict = found && (await deps.devInstances.verdict(stored.id, { seq }))
  if (!verdict || verdict.state === 'pending') return null
  const view = found.row?.view
  const after = view?.box ? { ...view, box: view.box } : stored
  if (verdict.state === 'accepted') return after
  const code = verdict.code !== null && isProblemCode(verdict.code) ? verdict.code : 'INTERNAL'
  return refuse({ code, detail: verdict.detail ?? 'the call was refused' }, after, call)
}

/** @throws Problem with the code that the call was refused with */
export const callDevInstance = async <T extends Trigger>(
  deps: Deps,
  request: ApiRequest,
  stored: ShownDevInstance,
  call: TriggerCall<T>,
): Promise<Called> => {
  const { id } = stored
  const { trigger, said, key = callKey(trigger, request) } = call
  const at = deps.now().toISOString()
  const isRepeat = request.idempotencyKey !== undefined && (await deps.devInstances.verdict(id, { key })) !== null
  if (!isRepeat) {
    const decision = await judge(deps, stored, call, at)
    if (decision.state === 'refused') refuse(decision.refusal, stored, call)
    if (decision.state === 'unchanged') return { stored }
  }
  const watched = deps.waiter.watch(DEVINSTANCE, id, ownerOf(stored))
  try {
    const { fact } = await deps.appendFact(callFact(id, { trigger, key, at, said, by: byOf(request) }))
    await wakeStored(deps, DEVINSTANCE, id).catch((error) => {
      if (!isNotFound(error)) throw error
    })
    if (wantsAsync(request)) return { stored: null }
    return { stored: await afterStored(verdictOn(deps, { stored, call, seq: fact.seq }, watched)) }
  } finally {
    watched.leave()
  }
}

/** 202: said, and still to be judged. */
export const pending = (id: string): Answer => accepted(`/api/devboxes/${id}`, { devbox: { id } })

/** The whole instance, or 202. */
export const answerOf = async (deps: Deps, id: string, { stored }: Called): Promise<Answer> =>
  stored === null ? pending(id) : { status: 200, body: { devbox: await detailOf(deps, stored) } }

/** The row now, for who has changed nothing. */
export const nowOf = async (deps: Deps, id: string, whose: Whose): Promise<ShownDevInstance | undefined> =>
  shownOf(await deps.mirror.get(DEVINSTANCE, id, whose))
