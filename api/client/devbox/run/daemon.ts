/**
 * The reconciler: round after round each dev instance is brought as far as it comes without waiting. It remembers only whom to leave
 * alone for a while, and what it has found out of those that wait; whoever starts it again begins with everybody.
 */

import type { Log } from '../../../../controllers/base/log.ts'
import { oneLine } from '../../cli/show/terminal.ts'
import { inventoryReport } from '../plan/orphans.ts'
import { type BoxGoal, type BoxStep, type Learned, NOTHING_LEARNED } from '../plan/world.ts'
import { type Converged, type Converging, converge } from './converge.ts'
import type { BoxItem } from './registry.ts'
import { countStep, newStanding, type Partner, type RunStanding } from './standing.ts'
import { tellStuck } from './telling.ts'

export type Daemon = {
  parts: Converging
  log: Log
  everyMs: number
  signal: AbortSignal
  /** Where it writes how it stands, for whoever asks. */
  standing?: RunStanding
}

/** Side by side, so that one that hangs in the cloud holds up three others at most. */
const SIDE_BY_SIDE = 4
/** Whom a person has to help is looked at again after so long, twice as long each time. */
const LEFT_ALONE_MS = 60_000
const LEFT_ALONE_MAX_MS = 30 * 60_000
const INVENTORY_EVERY_MS = 5 * 60_000

/** Left alone until then, unless something else is wished meanwhile. */
type Left = { untilMs: number; times: number; wished: string }

/** A larger size is taken without asking where the policy says so, and the registry proposes it; what is wished comes before. */
const goalOf = async ({ registry }: Converging, { id, state, policy, wanted }: BoxItem): Promise<BoxGoal> => {
  const mayGrow = policy.autoscale === 'auto' && wanted === null && ['ready', 'running', 'stopped'].includes(state)
  const proposal = mayGrow ? await registry.proposal(id) : null
  if (proposal === null) return { kind: 'asIs' }
  const { sizeClass, diskGb } = proposal
  return { kind: 'resized', sizeClass, diskGb, acknowledgeWorkAtRisk: false }
}

const broughtOn = async (parts: Converging, item: BoxItem, learned: Learned | undefined): Promise<Converged> => {
  try {
    const goal = await goalOf(parts, item)
    return await converge(parts, { id: item.id, goal, endMs: parts.nowMs(), ...(learned && { learned }) })
  } catch (error) {
    if (parts.signal?.aborted)
      return { state: 'waiting', why: 'it is told to end', learned: learned ?? NOTHING_LEARNED }
    return { state: 'stuck', code: 'FAILED', detail: messageOf(error), next: 'It is tried again.' }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const inLots = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, lot) => all.slice(lot * size, (lot + 1) * size))

/** @returns USD a month */
const tellOrphans = async ({ parts, log }: Daemon, rows: readonly BoxItem[]): Promise<number> => {
  const { driver, installation } = parts
  const inventory = await driver.inventory({ machineIds: [], allocationIds: [] })
  const { lines, orphanMonthlyUsd } = inventoryReport(inventory, rows, installation)
  const orphans = lines.filter(({ verdict }) => verdict === 'orphan')
  if (orphans.length > 0)
    log.warn(
      { orphans: orphans.length, monthlyUsd: orphanMonthlyUsd, next: 'bottega-devbox inventory' },
      'what is nobody’s costs',
    )
  return orphanMonthlyUsd
}

const LINE_MAX = 300

type Asking = { standing: RunStanding; parts: Pick<Converging, 'nowMs'> }

/** What one of the two answers, noting whether he does. @throws what the work throws */
const noting = async <T>({ standing, parts }: Asking, who: Partner, work: () => Promise<T>): Promise<T> => {
  standing.askedMs[who] = parts.nowMs()
  try {
    const answer = await work()
    standing.answered[who] = true
    return answer
  } catch (error) {
    standing.answered[who] = oneLine(messageOf(error), LINE_MAX)
    throw error
  } finally {
    standing.askedMs[who] = null
  }
}

/** Goes on until it is told to end; the step that is under way is brought to its end first, and no further one begun. */
export const runDaemon = async (daemon: Daemon): Promise<void> => {
  const { log, everyMs, signal, standing = newStanding() } = daemon
  const told = (id: string, step: BoxStep) => {
    countStep(standing, step)
    daemon.parts.tell(id, step)
  }
  const parts: Converging = { ...daemon.parts, signal, tell: told }
  const left = new Map<string, Left>()
  /** Of those that wait. A resize measures a machine that it then stops again, and knows which types were not to be had. */
  const learned = new Map<string, Learned>()
  let inventoryMs = Number.NEGATIVE_INFINITY
  const brought = async (item: BoxItem): Promise<Converged['state']> => {
    const wished = JSON.stringify(item.wanted)
    const known = left.get(item.id)
    const before = known?.wished === wished ? known : undefined
    if (signal.aborted) return 'waiting'
    if (before && before.untilMs > parts.nowMs()) return 'stuck'
    const ended = await broughtOn(parts, item, learned.get(item.id))
    if (ended.state === 'waiting') learned.set(item.id, ended.learned)
    else learned.delete(item.id)
    if (ended.state !== 'stuck') {
      left.delete(item.id)
      return ended.state
    }
    const times = (before?.times ?? 0) + 1
    const ms = Math.min(LEFT_ALONE_MS * 2 ** (times - 1), LEFT_ALONE_MAX_MS)
    left.set(item.id, { times, untilMs: parts.nowMs() + ms, wished })
    tellStuck(log, item.id, ended)
    return ended.state
  }
  const round = async (): Promise<void> => {
    const rows = await noting({ standing, parts }, 'registry', () => parts.registry.list())
    const live = rows.filter(({ state }) => state !== 'terminated')
    for (const id of [...learned.keys()]) if (live.every((one) => one.id !== id)) learned.delete(id)
    const instances = { done: 0, waiting: 0, stuck: 0 }
    for (const lot of inLots(live, SIDE_BY_SIDE))
      for (const state of await Promise.all(lot.map(brought))) instances[state] += 1
    standing.instances = instances
    if (signal.aborted || parts.nowMs() - inventoryMs < INVENTORY_EVERY_MS) return
    standing.orphanUsd = await noting({ standing, parts }, 'cloud', () => tellOrphans(daemon, rows))
    // not before: a cloud that does not answer is asked again in the next round
    inventoryMs = parts.nowMs()
  }
  const ended = (outcome: 'well' | 'failed') => {
    standing.rounds[outcome] += 1
    if (outcome === 'well') standing.wellAtMs = parts.nowMs()
  }
  while (!signal.aborted) {
    await round().then(
      () => ended('well'),
      (err) => {
        if (signal.aborted) return
        ended('failed')
        log.error({ err }, 'a round failed')
      },
    )
    await parts.sleep(everyMs).catch(() => undefined)
  }
}
