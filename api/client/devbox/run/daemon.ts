/**
 * The reconciler: round after round each dev instance is brought as far as it comes without waiting. It remembers only whom to leave
 * alone for a while, and what it has found out of those that wait; whoever starts it again begins with everybody.
 */

import type { Terminal } from '../../cli/show/terminal.ts'
import { inventoryReport } from '../plan/orphans.ts'
import type { BoxGoal, Learned } from '../plan/world.ts'
import { type Converged, type Converging, converge } from './converge.ts'
import type { BoxItem } from './registry.ts'

export type Daemon = {
  parts: Converging
  terminal: Terminal
  everyMs: number
  signal: AbortSignal
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
    return { state: 'stuck', code: 'FAILED', detail: messageOf(error), next: 'It is tried again.' }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const inLots = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, lot) => all.slice(lot * size, (lot + 1) * size))

const tellOrphans = async ({ parts, terminal }: Daemon, rows: readonly BoxItem[]): Promise<void> => {
  const { driver, installation } = parts
  const inventory = await driver.inventory({ machineIds: [], allocationIds: [] })
  const { lines, orphanMonthlyUsd } = inventoryReport(inventory, rows, installation)
  const orphans = lines.filter(({ verdict }) => verdict === 'orphan')
  if (orphans.length > 0)
    terminal.say(`${orphans.length} orphans cost ${orphanMonthlyUsd.toFixed(2)} USD a month: bottega-devbox inventory`)
}

/** Goes on until it is told to end; what is under way is brought to a step's end first. */
export const runDaemon = async (daemon: Daemon): Promise<void> => {
  const { parts, terminal, everyMs, signal } = daemon
  const left = new Map<string, Left>()
  /** Of those that wait. A resize measures a machine that it then stops again, and knows which types were not to be had. */
  const learned = new Map<string, Learned>()
  let inventoryMs = Number.NEGATIVE_INFINITY
  const brought = async (item: BoxItem): Promise<void> => {
    const wished = JSON.stringify(item.wanted)
    const known = left.get(item.id)
    const before = known?.wished === wished ? known : undefined
    if (signal.aborted || (before && before.untilMs > parts.nowMs())) return
    const ended = await broughtOn(parts, item, learned.get(item.id))
    if (ended.state === 'waiting') learned.set(item.id, ended.learned)
    else learned.delete(item.id)
    if (ended.state !== 'stuck') {
      left.delete(item.id)
      return
    }
    const times = (before?.times ?? 0) + 1
    const ms = Math.min(LEFT_ALONE_MS * 2 ** (times - 1), LEFT_ALONE_MAX_MS)
    left.set(item.id, { times, untilMs: parts.nowMs() + ms, wished })
    terminal.fail(`${item.id} ${ended.code}: ${ended.detail}. ${ended.next}`)
  }
  const round = async (): Promise<void> => {
    const rows = await parts.registry.list()
    const live = rows.filter(({ state }) => state !== 'terminated')
    for (const id of [...learned.keys()]) if (live.every((one) => one.id !== id)) learned.delete(id)
    for (const lot of inLots(live, SIDE_BY_SIDE)) await Promise.all(lot.map(brought))
    if (parts.nowMs() - inventoryMs < INVENTORY_EVERY_MS) return
    inventoryMs = parts.nowMs()
    await tellOrphans(daemon, rows)
  }
  while (!signal.aborted) {
    await round().catch((error) => terminal.fail(`a round failed: ${messageOf(error)}`))
    await parts.sleep(everyMs).catch(() => undefined)
  }
}
