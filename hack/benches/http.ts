import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { cpuSecondsOf } from './sides/cpu.ts'
import { type BenchContext, median } from './sides/figure.ts'
import type { LoadOrder, LoadResult, Side } from './sides/http/load.ts'
import { type LoadAsk, reports } from './sides/http/reports.ts'

/**
 * A read route through every stage (id, limits, token from the warm cache, scope, shape, metrics) beside a bare node:http
 * server that answers the same body. One process each, one client for both, alternating rounds, medians. Then reports of dev instances
 * beside reads of the same.
 */

const ROUNDS = 3
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5)
const CONNECTIONS = 32
const WARM_SECONDS = 2

type Cost = { rate: number; cpuUs: number; p99Ms: number }
type Running = Side & { name: string; child: ChildProcess }

const start = (program: 'sides' | 'load', arg: string): ChildProcess => {
  const script = join(import.meta.dirname, 'sides', 'http', `${program}.ts`)
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, arg], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

/** The first line that a side says, as JSON. */
const heard = async (child: ChildProcess): Promise<unknown> => {
  if (!child.stdout) throw new Error('the side has no output')
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit').then(() => [undefined])
  const [line] = await Promise.race([once(lines, 'line'), ended])
  if (typeof line !== 'string') throw new Error('a side of the bench ended without a word')
  return JSON.parse(line)
}

const open = async (name: 'bare' | 'ours'): Promise<Running> => {
  const child = start('sides', name)
  return { ...((await heard(child)) as Side), name, child }
}

const close = async ({ child }: Running): Promise<void> => {
  if (child.exitCode !== null) return
  child.stdin?.end()
  await once(child, 'exit')
}

const ask: LoadAsk = async (order) => (await heard(start('load', JSON.stringify(order)))) as LoadResult

/** One round against one side. */
const measure = async ({ port, path, token, child }: Running, seconds: number): Promise<Cost & LoadResult> => {
  const order: LoadOrder = { port, requests: Array.from({ length: CONNECTIONS }, () => ({ path, token })), seconds }
  const cpuSeconds = () => cpuSecondsOf({ server: child.pid ?? null }).server ?? 0
  const before = cpuSeconds()
  const result = await ask(order)
  const cpuUs = ((cpuSeconds() - before) * 1e6) / result.answers
  return { ...result, rate: result.answers / result.seconds, cpuUs }
}

const report = ({ figure, progress }: BenchContext, bare: readonly Cost[], ours: readonly Cost[]): void => {
  const of = (costs: readonly Cost[], what: keyof Cost) => median(costs.map((cost) => cost[what]))
  progress.line(`  p99: bare ${of(bare, 'p99Ms').toFixed(2)} ms, ours ${of(ours, 'p99Ms').toFixed(2)} ms`)
  progress.line(
    `  server CPU per request: bare ${of(bare, 'cpuUs').toFixed(0)} µs, ours ${of(ours, 'cpuUs').toFixed(0)} µs`,
  )
  figure({
    name: `read route through every stage, ${CONNECTIONS} connections`,
    value: of(ours, 'rate'),
    unit: '/s',
    peer: 'bare node:http',
    peerValue: of(bare, 'rate'),
    goal: { atLeast: 0.5 },
  })
}

export const bench = async (context: BenchContext): Promise<void> => {
  const sides = await Promise.all([open('bare'), open('ours')])
  const [bare, ours] = sides
  const costs: { bare: Cost[]; ours: Cost[] } = { bare: [], ours: [] }
  const step = context.progress.step(`http: ${ROUNDS} rounds of ${SECONDS} s each`)
  try {
    const warm = [await measure(bare, WARM_SECONDS), await measure(ours, WARM_SECONDS)]
    if (warm[0]?.bodyBytes !== warm[1]?.bodyBytes) throw new Error('the two sides do not answer the same')
    for (let round = 1; round <= ROUNDS; round += 1) {
      step.update(`round ${round} of ${ROUNDS}`, (round - 1) / ROUNDS)
      costs.bare.push(await measure(bare, SECONDS))
      costs.ours.push(await measure(ours, SECONDS))
    }
    step.done()
    report(context, costs.bare, costs.ours)
  } finally {
    await Promise.all(sides.map(close))
  }
  await reports(context, ask, { connections: CONNECTIONS, seconds: SECONDS })
}
