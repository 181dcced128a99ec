import { join } from 'node:path'
import { makeLog } from '../../controllers/base/log.ts'
import type { AnyResource } from '../../controllers/kinds/held.ts'
import { makeSchedule, type Schedule } from '../../controllers/store/ledger/schedule.ts'
import { takeEpoch } from '../../controllers/store/pg/fence.ts'
import { migrate } from '../../controllers/store/pg/migrate.ts'
import { makePg, type Pg } from '../../controllers/store/pg/pg.ts'
import { startScheduler } from '../../controllers/workers/scheduler.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { removeData } from '../platform/pgfiles.ts'
import { query, startPostgres } from '../platform/postgres.ts'
import { cpuSecondsOf } from './sides/cpu.ts'
import { type BenchContext, median } from './sides/figure.ts'

/**
 * A sweep of 10,000 reminders that fall due in the same second, of 10,000 invoices: each claimed under the fence with its
 * fact and its mail, on a PostgreSQL with fsync on. The goal is five seconds.
 */

const ROUNDS = 3
const DUE = 10_000
const BAR_MS = 5_000
const AT = '2026-12-17T08:00:00.000Z'

const fill = async (schedule: Schedule, round: number): Promise<void> => {
  const put = (n: number) => {
    const resource = `inv-${round}-${n}`
    const payload = { mail: 'reminder', n: 1, tone: 'before', dueDate: '2026-12-20', balanceCents: 144_000 }
    const mail = {
      kind: INVOICE.kind,
      account: 'bench',
      purpose: 'reminder:-3',
      channel: 'mail',
      messageId: `<${resource}.reminder.-3@bench>`,
      payload,
    }
    const body = { step: '-3', on: '2026-12-17', dueDate: '2026-12-20', to: `client-${n}@acme.test`, emailed: true }
    const effect = { fact: { key: 'reminder:-3', kind: 'reminder', body }, mail }
    const due = { purpose: 'reminder', dueAt: AT, lapsesAt: '2026-12-20T08:00:00.000Z', generation: 1, factSeq: 0 }
    return schedule.put({ kind: 'Invoice', resource, rows: [{ ...due, effect }] })
  }
  await Promise.all(Array.from({ length: DUE }, (_, n) => put(n)))
}

const sweepOf = async (schedule: Schedule): Promise<number> => {
  const object = (name: string) => ({ metadata: { name, generation: 1 } }) as AnyResource
  let woken = 0
  const startMs = performance.now()
  const scheduler = startScheduler({
    schedule,
    find: (_kind, name) => object(name),
    stored: async () => null,
    wake: () => {
      woken += 1
    },
    onQueued: () => undefined,
    now: () => new Date(AT),
    log: makeLog({ level: 'warn' }),
  })
  await scheduler.sweep()
  const tookMs = performance.now() - startMs
  await scheduler.stop()
  if (woken !== DUE) throw new Error(`${woken} of ${DUE} were claimed`)
  return tookMs
}

const check = async (pg: Pg, rounds: number): Promise<void> => {
  const count = async (text: string) => Number((await pg.query<{ n: number }>(text, text)).rows[0]?.n)
  const found = {
    facts: await count("select count(*) as n from facts where kind = 'reminder'"),
    mails: await count("select count(*) as n from outbox where channel = 'mail'"),
    left: await count('select count(*) as n from schedule'),
  }
  const whole = found.facts === rounds * DUE && found.mails === rounds * DUE && found.left === 0
  if (!whole) throw new Error(`the reminders are not whole: ${JSON.stringify(found)}`)
}

export async function bench({ progress, scratch, figure }: BenchContext): Promise<void> {
  const dataDir = join(scratch, 'pg')
  const postgres = await startPostgres({ dataDir, owner: `bench-${process.pid}`, durable: true })
  const pg = makePg({ url: postgres.url })
  try {
    await migrate(postgres.url)
    const epoch = await takeEpoch(pg, 'bench')
    const schedule = makeSchedule({ pg, epoch: () => epoch, now: () => new Date(AT) })
    const step = progress.step(`reminders: ${ROUNDS} rounds of ${DUE}`)
    const times: number[] = []
    const pids = () => ({ postgres: postgres.pid(), sweep: process.pid })
    for (let round = 1; round <= ROUNDS; round += 1) {
      step.update(`round ${round} of ${ROUNDS}`, (round - 1) / ROUNDS)
      await fill(schedule, round)
      await query(postgres.url, 'analyze')
      const before = cpuSecondsOf(pids())
      times.push(await sweepOf(schedule))
      const after = cpuSecondsOf(pids())
      const spent = Object.entries(after).map(([name, s]) => `${name} ${(s - (before[name] ?? 0)).toFixed(1)} s`)
      progress.line(`  round ${round}: ${Math.round(times.at(-1) ?? 0)} ms, CPU ${spent.join(', ')}`)
      await check(pg, round)
    }
    step.done(`${ROUNDS * DUE} reminders, each with its fact and its mail`)
    const name = `sweep of ${DUE} reminders due at once`
    figure({ name, value: median(times), unit: 'ms', peer: 'the bar', peerValue: BAR_MS, goal: { atMost: 1 } })
  } finally {
    await pg.close()
    await postgres.stop()
    removeData(dataDir)
  }
}
