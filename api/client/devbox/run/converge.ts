/**
 * One dev instance is brought to where it is asked to be: look, plan, one effect, look again. Whatever ends this in between, the
 * next who begins sees the same row and the same inventory.
 */
import { RefusedByApi } from '../../cli/net/outcome.ts'
import { CloudFault } from '../cloud/driver.ts'
import { nothingLeft } from '../plan/end.ts'
import { nextStep } from '../plan/next.ts'
import { thingsOf, worldOf } from '../plan/seen.ts'
import {
  type BoxEffect,
  type BoxGoal,
  type BoxPause,
  type BoxRow,
  type BoxStep,
  type Learned,
  NOTHING_LEARNED,
  stuck,
  wait,
} from '../plan/world.ts'
import { type Acted, type ActingParts, act, tokenIndex } from './act.ts'

export type Converging = ActingParts & {
  nowMs(): number
  /** @throws when it was interrupted */
  sleep(ms: number): Promise<void>
  /** Ends it between two effects. */
  signal?: AbortSignal
  /** Told of each step before it is done. */
  tell(id: string, step: BoxStep): void
  /** Surrounds each effect: tests end here what a crash would end. */
  around?(effect: BoxEffect, run: () => Promise<Partial<Learned>>): Promise<Partial<Learned>>
}

export type ConvergeAsk = {
  id: string
  goal: BoxGoal
  /** When there is no more time to wait, on the clock of `nowMs`. */
  endMs: number
  /** What bears the tags of an instance without a row may be removed. */
  takesOrphans?: boolean
  /** From where an earlier run came no further without waiting: what it knew is not found out by starting a machine again. */
  learned?: Learned
}

export type Converged =
  | { state: 'done'; row: BoxRow | null }
  | { state: 'waiting'; why: string; learned: Learned }
  | { state: 'stuck'; code: string; detail: string; next: string }

/** Of one instance and one goal; whoever needs more of them goes round in a circle. */
const EFFECTS_MAX = 200
const FAULT_WAIT_MS = 5_000
/** Somebody else was faster, or this was said before: the row is read again. */
const READ_AGAIN = ['VERSION_CONFLICT', 'IDEMPOTENCY_MISMATCH', 'IDEMPOTENCY_IN_FLIGHT']

const NEXT: Readonly<Record<string, string>> = {
  limit: 'Release what is not needed (bottega-devbox inventory), or ask the cloud for a larger quota.',
  denied: 'Give the credentials that this program runs with the right to do it.',
  refused: 'Mend what the message names, then repeat.',
}

type Seen = { row: BoxRow | null; step: BoxStep; things: ReturnType<typeof thingsOf> }

const knownOf = (row: BoxRow | null) => ({
  machineIds: row?.instanceId == null ? [] : [row.instanceId],
  allocationIds: row === null ? [] : row.addresses.map(({ eipAllocId }) => eipAllocId),
})

const withoutRow = ({ id, goal, takesOrphans }: ConvergeAsk, things: Seen['things'], discarded: boolean): BoxStep => {
  if (goal.kind === 'terminated' && (takesOrphans || discarded)) return nothingLeft(things) ?? { do: 'done' }
  return stuck(
    'NOT_FOUND',
    `the registry shows no ${id} to this token`,
    `If it was deleted and left something behind: bottega-devbox terminate ${id} --orphan`,
  )
}

const NOTHING: Seen['things'] = { machines: [], volumes: [], addresses: [], dead: 0 }

const isPause = (value: object): value is BoxPause => 'do' in value

/** The row is read last: what the inventory does not show of it yet is older than it. */
const look = async (
  parts: Converging,
  ask: ConvergeAsk,
  { learned, discarded }: { learned: Learned; discarded: boolean },
): Promise<Seen> => {
  const { registry, driver, installation } = parts
  const before = await registry.read(ask.id)
  const inventory = await driver.inventory(knownOf(before)).catch((error) => {
    if (error instanceof CloudFault) return pauseFor(error)
    throw error
  })
  if (isPause(inventory)) return { row: before, step: inventory, things: NOTHING }
  const row = await registry.read(ask.id)
  const things = thingsOf(inventory, installation, ask.id, learned.allocated)
  if (row === null) return { row, things, step: withoutRow(ask, things, discarded) }
  const { settleMs, namesMachinesOnly } = driver
  const world = worldOf({ row, inventory, installation, learned, settleMs, namesMachinesOnly, nowMs: parts.nowMs() })
  return { row, things, step: nextStep(ask.goal, world) }
}

/** What a fault of the cloud means for what comes next. */
const pauseFor = ({ sort, code, message }: CloudFault): BoxPause => {
  const next = NEXT[sort]
  return next === undefined ? wait(`${code}: ${message}`, FAULT_WAIT_MS) : stuck(code, message, next)
}

const afterFault = (effect: BoxEffect, fault: CloudFault, at: Acted): Partial<Learned> | BoxPause => {
  if (fault.sort === 'capacity' && (effect.do === 'launch' || effect.do === 'start'))
    return { triedTypes: [...at.learned.triedTypes, effect.instanceType], spentTokens: 0 }
  if (fault.sort === 'spent' && effect.do === 'launch') return { spentTokens: tokenIndex(at) + 1 }
  return pauseFor(fault)
}

const tried = async (parts: Converging, seen: Seen & { row: BoxRow }, learned: Learned, effect: BoxEffect) => {
  const { around = (_, run) => run() } = parts
  try {
    return await around(effect, () => act(parts, { ...seen, learned }, effect))
  } catch (error) {
    if (error instanceof CloudFault) return afterFault(effect, error, { ...seen, learned })
    if (!(error instanceof RefusedByApi)) throw error
    const { code, detail = '', next = '' } = error.refusal
    return READ_AGAIN.includes(code) ? wait(`${code}: ${detail}`, 0) : stuck(code, detail, next)
  }
}

/** A row for the effects on what has none: they name things of the cloud alone. */
const isWithoutRow = (effect: BoxEffect): boolean =>
  ['terminate', 'removeVolume', 'disassociate', 'release'].includes(effect.do)

const paused = async (
  parts: Converging,
  { endMs }: ConvergeAsk,
  pause: BoxPause,
  { row, learned }: { row: BoxRow | null; learned: Learned },
): Promise<Converged | null> => {
  if (pause.do === 'done') return { state: 'done', row }
  if (pause.do === 'stuck') {
    const { code, detail, next } = pause
    return { state: 'stuck', code, detail, next }
  }
  if (parts.nowMs() + pause.ms > endMs) return { state: 'waiting', why: pause.why, learned }
  await parts.sleep(pause.ms)
  return null
}

const isEffect = (step: BoxStep): step is BoxEffect => !['done', 'wait', 'stuck'].includes(step.do)

type Known = { learned: Learned; discarded: boolean }

/** Does the step, where it is one. @returns what is known then, or why nothing can be done now */
const done = async (parts: Converging, seen: Seen, { learned, discarded }: Known): Promise<Known | BoxPause> => {
  const { row, step } = seen
  if (!isEffect(step)) return step
  if (row === null && !isWithoutRow(step)) throw new Error(`${step.do} needs a row`)
  const result = await tried(parts, { ...seen, row: row as BoxRow }, learned, step)
  if (isPause(result)) return result
  return { learned: { ...learned, ...result }, discarded: discarded || step.do === 'discard' }
}

/** @throws GaveUp when the registry does not answer, what `sleep` throws, and why `signal` was raised */
export const converge = async (parts: Converging, ask: ConvergeAsk): Promise<Converged> => {
  let known: Known = { learned: ask.learned ?? NOTHING_LEARNED, discarded: false }
  for (let effects = 0; effects < EFFECTS_MAX; ) {
    parts.signal?.throwIfAborted()
    const seen = await look(parts, ask, known)
    parts.tell(ask.id, seen.step)
    const result = await done(parts, seen, known)
    if (!isPause(result)) {
      known = result
      effects += 1
      continue
    }
    // what was waited for is to be seen anew
    known = { ...known, learned: { ...known.learned, inside: null, cloudFacts: null } }
    const ended = await paused(parts, ask, result, { row: seen.row, learned: known.learned })
    if (ended) return ended
  }
  const detail = `${ask.id} did not come to an end within ${EFFECTS_MAX} effects`
  return { state: 'stuck', code: 'NO_END', detail, next: 'Report it.' }
}
