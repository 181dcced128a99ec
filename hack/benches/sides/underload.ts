import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf } from './cpu.ts'
import { median } from './figure.ts'

/** What work costs while a load lasts: how much of it is done a second, and the processor time of each process for one of it. */

export type Pids = () => Record<string, number | null>
/** `rate` a second; `each` in milliseconds by process, `cpuMs` of all. */
export type Cost = { rate: number; cpuMs: number; each: Record<string, number> }

const LEAD_MS = 500

/** So many callers, one call after another, for so long. */
export const load = async (callers: number, seconds: number, call: () => Promise<void>): Promise<void> => {
  const endMs = performance.now() + seconds * 1000
  const one = async () => {
    while (performance.now() < endMs) await call()
  }
  await Promise.all(Array.from({ length: callers }, one))
}

type Load = {
  pids: Pids
  callers: number
  seconds: number
  call: () => Promise<void>
  /** How much has been done so far. */
  done: () => Promise<number>
}

/** The callers begin before the time that counts and end behind it: while they come and go the processors have less to do. */
export const costUnderLoad = async ({ pids, callers, seconds, call, done }: Load): Promise<Cost> => {
  const sample = async () => ({ count: await done(), cpu: cpuSecondsOf(pids()), atMs: performance.now() })
  const samples = async () => {
    await sleep(LEAD_MS)
    const from = await sample()
    await sleep(seconds * 1000)
    return { from, to: await sample() }
  }
  const [{ from, to }] = await Promise.all([samples(), load(callers, seconds + (2 * LEAD_MS) / 1000, call)])
  const count = to.count - from.count
  const each = Object.entries(to.cpu).map(([name, cpuSeconds]): [string, number] => [
    name,
    ((cpuSeconds - (from.cpu[name] ?? 0)) * 1000) / count,
  ])
  const rate = (count * 1000) / (to.atMs - from.atMs)
  return { rate, cpuMs: each.reduce((sum, [, ms]) => sum + ms, 0), each: Object.fromEntries(each) }
}

/** The middle of each figure: the machine is slower for some seconds now and then, and so are the turns that meet them. */
export const middle = (costs: Cost[]): Cost => {
  const of = (pick: (cost: Cost) => number) => median(costs.map(pick))
  const names = Object.keys(costs[0]?.each ?? {})
  const each = Object.fromEntries(names.map((name) => [name, of((cost) => cost.each[name] ?? 0)]))
  return { rate: of(({ rate }) => rate), cpuMs: of(({ cpuMs }) => cpuMs), each }
}
