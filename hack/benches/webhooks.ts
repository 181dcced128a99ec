import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keysOfOne } from '../../controllers/base/keys.ts'
import { migrate } from '../../controllers/store/pg/migrate.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'
import { makeEndpoints } from '../../controllers/store/webhook/endpoints.ts'
import { secretOf } from '../../crds/webhook/signature.ts'
import { ensurePeer } from '../lib/peer.ts'
import { removeData } from '../platform/pgfiles.ts'
import { type Postgres, query, startPostgres, withConnection } from '../platform/postgres.ts'
import { cpuSecondsOf } from './sides/cpu.ts'
import { type BenchContext, median } from './sides/figure.ts'
import type { Manner, ReceiverReport, ReceiverSaid, ReceiversOrder } from './sides/hooks/receivers.ts'
import {
  BENCH_ACCOUNT,
  BENCH_KEY,
  eventData,
  type SideDone,
  type SideName,
  type SideOrder,
} from './sides/hooks/sides.ts'

/**
 * Signed deliveries to three receivers on loopback by the webhook sender, over a PostgreSQL with fsync on: beside a loop that posts
 * the same without a ledger, and graphile-worker whose jobs post the same; what a slow and a broken receiver cost the good
 * one; and how long after its commit an event arrives.
 */

const ROUNDS = 3
const EVENTS = Number(process.env.BENCH_EVENTS ?? 10_000)
const PER_SECOND = 200
/** The bar is 300. */
const LAG_SECONDS = Number(process.env.BENCH_SECONDS ?? 30)
const LAG_P99_MS = 250
const LATE_MS = 30_000
const RATIO = { bare: 0.5, peer: 1, isolation: 0.95 }
const SIDES: readonly SideName[] = ['bare', 'ours', 'peer', 'queued', 'peerQueued']
const ALL_GOOD: Manner[] = ['good', 'good', 'good']
/** The other two have their own pace: what they take is not waited for. */
const MIXED: Manner[] = ['good', 'slow', 'broken']

type Child = { pid: number | null; ask<T>(order: unknown): Promise<T>; end(): void }

const startChild = async <T>(file: string, args: string[]): Promise<{ child: Child; first: T }> => {
  const script = join(import.meta.dirname, 'sides', 'hooks', file)
  const made: ChildProcess = fork(script, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = once(made, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code}`)
  })
  ended.catch(() => {}) // it ends for good once all is measured
  const heard = async <T>(): Promise<T> => {
    const [said] = await Promise.race([once(made, 'message'), ended])
    return said as T
  }
  const first = await heard<T>()
  const child: Child = {
    pid: made.pid ?? null,
    ask: async (order) => {
      const said = heard<never>()
      made.send(order as object)
      return said
    },
    end: () => made.disconnect(),
  }
  return { child, first }
}

type Stage = {
  context: BenchContext
  postgres: Postgres
  receivers: Child
  urls: string[]
  secrets: string[]
  home: string
}
type Cost = { rate: number; cpu: Record<string, number>; reports: ReceiverReport[] }

const nameIn = (url: string, database: string): string => {
  const found = new URL(url)
  found.pathname = `/${database}`
  return found.href
}

/** A fresh copy of the migrated database, where the account has as many endpoints as there are secrets. */
const makeDatabase = async ({ postgres, urls, secrets }: Stage, to: readonly number[]): Promise<string> => {
  const name = `bench_${randomBytes(4).toString('hex')}`
  await query(postgres.url, `create database ${name} template bench_template`)
  const url = nameIn(postgres.url, name)
  const pg = makePg({ url, max: 1 })
  const endpoints = makeEndpoints({ pg, sealer: keysOfOne(BENCH_KEY).sealer('webhook-secret') })
  for (const index of to) {
    const [at, hook] = [new Date().toISOString(), urls[index] ?? '']
    const made = { account: BENCH_ACCOUNT, id: `whk_${index}`, url: hook, events: ['*'], secret: secrets[index] ?? '' }
    await endpoints.create({ ...made, at }, to.length)
  }
  await pg.close()
  return url
}

const TELL = `
select count(tell_event('inv-' || lpad(n::text, 32, '0'), 'sent', $1::json, $2)) from generate_series(1, $3::integer) n`

const tell = (url: string): Promise<void> =>
  withConnection(url, async (run) => {
    const event = JSON.stringify({
      kind: 'Invoice',
      account: BENCH_ACCOUNT,
      type: 'invoice.sent',
      data: eventData('inv'),
    })
    await run(TELL, [event, new Date().toISOString(), EVENTS])
    await run('vacuum analyze')
  })

const startSide = async (stage: Stage, order: Partial<SideOrder> & Pick<SideOrder, 'side' | 'databaseUrl'>) => {
  const { urls, secrets, home } = stage
  const whole: SideOrder = { urls, secrets, count: EVENTS, home, perSecond: PER_SECOND, ...order }
  return (await startChild('sides.ts', [JSON.stringify(whole)])).child
}

const set = (stage: Stage, manners: Manner[], wanted: number, isChecked: boolean): Promise<ReceiverSaid> => {
  const order: ReceiversOrder = { manners, secrets: isChecked ? stage.secrets : [], wanted }
  return stage.receivers.ask(order)
}
const reportsOf = async ({ receivers }: Stage): Promise<ReceiverReport[]> => {
  const order: ReceiversOrder = 'report'
  return (await receivers.ask<{ reports: ReceiverReport[] }>(order)).reports
}

const checkWhole = (reports: readonly ReceiverReport[]): void => {
  const isWhole = reports.every(
    ({ events, requests, forged }) => [events, requests].every((n) => n === EVENTS) && forged === 0,
  )
  if (!isWhole)
    throw new Error(`not each event once to each: ${JSON.stringify(reports.map(({ latenciesMs, ...rest }) => rest))}`)
}

/** One round of one side on a database of its own. */
const measure = async (stage: Stage, side: SideName): Promise<Cost> => {
  const all = stage.urls.map((_url, index) => index)
  const databaseUrl = await makeDatabase(stage, all)
  if (side === 'ours' || side === 'queued') await tell(databaseUrl)
  const child = await startSide(stage, { side, databaseUrl })
  try {
    await set(stage, ALL_GOOD, EVENTS, true)
    const pids = () => ({ sender: child.pid, postgres: stage.postgres.pid(), receivers: stage.receivers.pid })
    await query(stage.postgres.url, 'checkpoint')
    const before = cpuSecondsOf(pids())
    const { seconds } = await child.ask<SideDone>('go')
    const after = cpuSecondsOf(pids())
    const cpu = Object.fromEntries(Object.entries(after).map(([name, s]) => [name, s - (before[name] ?? 0)]))
    await child.ask('end')
    const reports = await reportsOf(stage)
    checkWhole(reports)
    return { rate: (EVENTS * all.length) / seconds, cpu, reports }
  } finally {
    child.end()
  }
}

const line = ({ rate, cpu }: Cost): string => {
  const each = Object.entries(cpu).map(([name, s]) => `${name} ${((s * 1e6) / (EVENTS * ALL_GOOD.length)).toFixed(0)}`)
  return `${Math.round(rate)}/s, CPU µs each: ${each.join(', ')}`
}

const deliveries = async (stage: Stage): Promise<void> => {
  const { progress, figure } = stage.context
  const costs: Record<SideName, Cost[]> = { bare: [], ours: [], queued: [], peer: [], peerQueued: [] }
  const step = progress.step(`webhooks: ${ROUNDS} rounds of ${EVENTS} events to ${ALL_GOOD.length} receivers`)
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const side of SIDES) {
      step.update(`round ${round} of ${ROUNDS}, ${side}`, (round - 1) / ROUNDS)
      const cost = await measure(stage, side)
      costs[side].push(cost)
      progress.line(`  round ${round}, ${side}: ${line(cost)}`)
    }
  }
  step.done()
  const rateOf = (side: SideName) => median(costs[side].map(({ rate }) => rate))
  const name = `signed deliveries to ${ALL_GOOD.length} receivers, recorded, from ${EVENTS} events`
  const queued = `the same, from ${EVENTS * ALL_GOOD.length} queued deliveries`
  const [loop, worker] = ['bare keep-alive loop', 'graphile-worker 0.18.0']
  const goal = { atLeast: RATIO.peer }
  const value = rateOf('ours')
  figure({ name, value, unit: '/s', peer: loop, peerValue: rateOf('bare'), goal: { atLeast: RATIO.bare } })
  figure({ name, value, unit: '/s', peer: worker, peerValue: rateOf('peer'), goal })
  figure({ name: queued, value: rateOf('queued'), unit: '/s', peer: worker, peerValue: rateOf('peerQueued'), goal })
}

/** Events a second at the good receiver, until it has them all. */
const goodRate = async (stage: Stage, manners: Manner[]): Promise<number> => {
  const databaseUrl = await makeDatabase(
    stage,
    manners.map((_manner, index) => index),
  )
  await tell(databaseUrl)
  const child = await startSide(stage, { side: 'ours', databaseUrl, count: 0 })
  try {
    await set(stage, manners, EVENTS, true)
    await query(stage.postgres.url, 'checkpoint')
    await child.ask('go')
    for (;;) {
      const [good] = await reportsOf(stage)
      if (good?.wantedMs) return (EVENTS * 1000) / good.wantedMs
      await sleep(50)
    }
  } finally {
    child.end()
  }
}

const isolation = async (stage: Stage): Promise<void> => {
  const { progress, figure } = stage.context
  const step = progress.step(`webhooks: ${ROUNDS} rounds beside a slow and a broken receiver`)
  const [beside, alone]: [number[], number[]] = [[], []]
  for (let round = 1; round <= ROUNDS; round += 1) {
    alone.push(await goodRate(stage, ['good']))
    beside.push(await goodRate(stage, MIXED))
    progress.line(`  round ${round}: alone ${alone.at(-1)?.toFixed(0)}/s, beside ${beside.at(-1)?.toFixed(0)}/s`)
  }
  step.done()
  const name = 'a good receiver beside a slow and a broken one'
  const goal = { atLeast: RATIO.isolation }
  figure({ name, value: median(beside), unit: '/s', peer: 'alone', peerValue: median(alone), goal })
}

const p = (sorted: readonly number[], part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN

const allCome = async (stage: Stage, count: number): Promise<ReceiverReport[]> => {
  for (const endMs = performance.now() + LATE_MS; performance.now() < endMs; await sleep(100)) {
    const reports = await reportsOf(stage)
    if (reports.some(({ forged }) => forged > 0)) throw new Error('an event was forged')
    if (reports.every(({ events }) => events === count)) return reports
  }
  throw new Error('not all events came')
}

/** Who writes is another process than who sends, and wakes nobody: the sender finds what was told by looking. */
const lag = async (stage: Stage): Promise<void> => {
  const { progress, figure } = stage.context
  const count = LAG_SECONDS * PER_SECOND
  const step = progress.step(`webhooks: ${PER_SECOND} events a second for ${LAG_SECONDS} s`)
  const databaseUrl = await makeDatabase(stage, [0, 1, 2])
  const sender = await startSide(stage, { side: 'ours', databaseUrl, count: 0 })
  const writer = await startSide(stage, { side: 'writer', databaseUrl, count })
  try {
    await set(stage, ALL_GOOD, count, true)
    await sender.ask('go')
    await writer.ask('go')
    const reports = await allCome(stage, count)
    await sender.ask('end')
    const sorted = reports.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b)
    const [p50, p99, most] = [p(sorted, 0.5), p(sorted, 0.99), sorted.at(-1) ?? Number.NaN]
    step.done()
    progress.line(`  p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, at most ${most.toFixed(0)} ms`)
    const name = `commit to first byte p99, ${PER_SECOND} events/s for ${LAG_SECONDS} s to ${ALL_GOOD.length} receivers`
    figure({ name, value: p99, unit: 'ms', peer: 'the bar', peerValue: LAG_P99_MS, goal: { atMost: 1 } })
  } finally {
    sender.end()
    writer.end()
  }
}

export async function bench(context: BenchContext): Promise<void> {
  const home = await ensurePeer('graphile-worker', context)
  const dataDir = join(context.scratch, 'pg')
  const postgres = await startPostgres({ dataDir, owner: `bench-${process.pid}`, durable: true })
  const { child: receivers, first } = await startChild<{ ports: number[] }>('receivers.ts', [])
  try {
    await query(postgres.url, 'create database bench_template')
    await migrate(nameIn(postgres.url, 'bench_template'))
    const urls = first.ports.map((port) => `http://127.0.0.1:${port}/hooks`)
    const stage = { context, postgres, receivers, urls, secrets: urls.map(() => secretOf(randomBytes(32))), home }
    await deliveries(stage)
    await isolation(stage)
    await lag(stage)
  } finally {
    receivers.end()
    await postgres.stop()
    removeData(dataDir)
  }
}
