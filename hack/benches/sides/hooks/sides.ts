import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher, request } from 'undici'
import { keysOfOne } from '../../../../controllers/base/keys.ts'
import { makeLog } from '../../../../controllers/base/log.ts'
import { makeEgress } from '../../../../controllers/net/egress.ts'
import { LEASE, takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { makeDeliveries } from '../../../../controllers/store/webhook/deliveries.ts'
import { CONCURRENCY_MAX } from '../../../../controllers/workers/endpoint-queues.ts'
import { startWebhookSender } from '../../../../controllers/workers/webhook-sender.ts'
import { makeSigner, type Signer } from '../../../../crds/webhook/signature.ts'

/**
 * One side of `hack/bench webhooks`, in a process of its own, that sends every event to every receiver: `ours` the webhook sender,
 * `bare` a loop of signed requests without a ledger, `peer` graphile-worker with a task that posts. `writer` tells events at a
 * rate, one commit each. A side says `ready`, waits for a message, and answers with what it took.
 */

export type SideName = 'bare' | 'ours' | 'queued' | 'peer' | 'peerQueued'
export type SideOrder = {
  side: SideName | 'writer'
  databaseUrl: string
  urls: string[]
  secrets: string[]
  /** Events. */
  count: number
  /** Of graphile-worker. */
  home: string
  /** Of the writer. */
  perSecond: number
}
export type SideDone = { seconds: number }

/** The key that endpoints of the bench are sealed with. */
export const BENCH_KEY = Buffer.alloc(32, 7)
export const BENCH_ACCOUNT = 'bench'
const POLL_MS = 5
const LIMIT_MS = 300_000

/** What is told of a sent invoice. */
export const eventData = (name: string): Record<string, unknown> => ({
  invoice: {
    id: name,
    number: 'INV-026-0001',
    status: 'sent',
    external_ref: null,
    currency: 'EUR',
    subtotal_cents: 432_000,
    tax_cents: 86_400,
    total_cents: 518_400,
    paid_cents: 0,
    balance_cents: 518_400,
    issued_on: '2026-11-22',
    due_date: '2026-12-22',
    metadata: { job: 7 },
  },
})

export const nameOf = (n: number): string => `inv-${String(n).padStart(32, '0')}`

const bodyOfNth = (n: number): { id: string; body: string } => {
  const id = `evt_${String(n).padStart(32, '0')}`
  const told = { id, type: 'invoice.sent', created_at: new Date().toISOString(), sequence: n, object_sequence: 1 }
  return { id, body: JSON.stringify({ ...told, test: false, data: eventData(nameOf(n)) }) }
}

type Running = { go(): Promise<void>; end(): Promise<void> }

const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (const endMs = performance.now() + LIMIT_MS; !(await isSo()); await sleep(POLL_MS)) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${LIMIT_MS} ms`)
  }
}

const isEmpty = async (pg: Pg, name: string, from: string): Promise<boolean> => {
  const { rows } = await pg.query<{ found: boolean }>(name, `select exists (select from ${from}) as found`, [])
  return rows[0]?.found === false
}

/** Until every outcome is recorded; with a count of 0 until it is ended. */
const ours = async ({ databaseUrl, urls, count }: SideOrder): Promise<Running & { spread(): Promise<void> }> => {
  const pg = makePg({ url: databaseUrl })
  const epoch = await takeEpoch(pg, 'bench')
  const now = () => new Date()
  const egress = makeEgress({ allowLoopback: true })
  const sealer = keysOfOne(BENCH_KEY).sealer('webhook-secret')
  const deliveries = makeDeliveries({ pg, sealer, epoch: () => epoch, now })
  let done = 0
  const start = () =>
    startWebhookSender({
      deliveries,
      egress,
      now,
      noticeOf: () => null,
      log: makeLog({ level: 'warn' }),
      onAttempt: () => {
        done += 1
      },
    })
  let webhookSender: ReturnType<typeof start> | undefined
  return {
    spread: async () => {
      while ((await deliveries.spread()).spread > 0);
      await pg.query('vacuum', 'vacuum analyze')
    },
    go: async () => {
      webhookSender = start()
      if (count === 0) return
      await until('all to be delivered', () => done >= count * urls.length)
      await until('all to be recorded', () => isEmpty(pg, 'bench_pending', "deliveries where state = 'pending'"))
    },
    end: async () => {
      await webhookSender?.stop()
      await egress.close()
      await pg.close()
    },
  }
}

type Posting = { url: string; id: string; body: string; sign: Signer; dispatcher: Dispatcher }

const post = async ({ url, id, body, sign, dispatcher }: Posting): Promise<void> => {
  const headers = { 'content-type': 'application/json', ...sign({ id, body, at: new Date() }) }
  const answer = await request(url, { method: 'POST', headers, body, dispatcher })
  await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`a receiver answered ${answer.statusCode}`)
}

/** The same, whose deliveries are queued before the time is taken. */
const queued = async (order: SideOrder): Promise<Running> => {
  const running = await ours(order)
  await running.spread()
  return running
}

/** As many under way at each receiver as the webhook sender has. */
const bare = async ({ urls, secrets, count }: SideOrder): Promise<Running> => {
  const events = Array.from({ length: count }, (_, n) => bodyOfNth(n))
  const dispatcher = new Agent({ connections: CONCURRENCY_MAX })
  const feed = async (url: string, sign: Signer) => {
    let next = 0
    const lane = async () => {
      for (let event = events[next++]; event; event = events[next++]) await post({ url, ...event, sign, dispatcher })
    }
    await Promise.all(Array.from({ length: CONCURRENCY_MAX }, lane))
  }
  return {
    go: async () => {
      await Promise.all(urls.map((url, index) => feed(url, makeSigner([secrets[index] ?? '']))))
    },
    end: () => dispatcher.close(),
  }
}

type Job = { identifier: string; payload: object }
type PeerWorker = {
  Logger: new (make: () => () => void) => unknown
  makeWorkerUtils(given: object): Promise<{
    migrate(): Promise<void>
    addJobs(jobs: Job[]): Promise<unknown>
    release(): Promise<void>
  }>
  run(given: object): Promise<{ stop(): Promise<void> }>
}

/** Jobs that one statement adds. */
const JOBS_AT_ONCE = 1_000
/** Of those tried (queues of 49 to 2,000, delays of 0 to 250 ms), the fastest here. */
const PEER_SETTINGS = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }

/** From one job for each event, which queues a post for each receiver. */
const peer = (order: SideOrder): Promise<Running> =>
  startPeer(order, (event) => [{ identifier: 'tell', payload: event }])
/** From one job for each post. */
const peerQueued = (order: SideOrder): Promise<Running> => startPeer(order, (event) => postsOf(order, event))

type Event = ReturnType<typeof bodyOfNth>
const postsOf = ({ urls }: SideOrder, event: Event): Job[] =>
  urls.map((_url, index) => ({ identifier: 'post', payload: { ...event, index } }))

const startPeer = async (order: SideOrder, jobsOf: (event: Event) => Job[]): Promise<Running> => {
  const { databaseUrl, urls, secrets, count, home } = order
  const { Logger, makeWorkerUtils, run } = createRequire(join(home, 'package.json'))('graphile-worker') as PeerWorker
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger })
  await utils.migrate()
  const jobs = Array.from({ length: count }, (_, n) => bodyOfNth(n)).flatMap(jobsOf)
  for (let at = 0; at < jobs.length; at += JOBS_AT_ONCE) await utils.addJobs(jobs.slice(at, at + JOBS_AT_ONCE))
  const pg = makePg({ url: databaseUrl, max: 1 })
  await pg.query('vacuum', 'vacuum analyze')
  const dispatcher = new Agent({ connections: CONCURRENCY_MAX })
  const signers = secrets.map((secret) => makeSigner([secret]))
  let done = 0
  const tell = async (event: Event, { addJobs }: { addJobs(jobs: Job[]): Promise<unknown> }) => {
    await addJobs(postsOf(order, event))
  }
  const task = async (payload: { id: string; body: string; index: number }) => {
    const [url, sign] = [urls[payload.index], signers[payload.index]]
    if (!url || !sign) throw new Error('a job for nobody')
    await post({ ...payload, url, sign, dispatcher })
    done += 1
  }
  const concurrentJobs = urls.length * CONCURRENCY_MAX
  const worker = { connectionString: databaseUrl, concurrentJobs, maxPoolSize: concurrentJobs + 2, ...PEER_SETTINGS }
  let runner: Awaited<ReturnType<PeerWorker['run']>> | undefined
  return {
    go: async () => {
      runner = await run({ preset: { worker: { ...worker, logger } }, taskList: { tell, post: task } })
      await until('all jobs to be done', () => done >= count * urls.length)
      await until('all jobs to be settled', () => isEmpty(pg, 'bench_jobs', 'graphile_worker._private_jobs'))
    },
    end: async () => {
      await runner?.stop()
      await utils.release()
      await dispatcher.close()
      await pg.close()
    },
  }
}

const APPEND = 'select seq from append_facts($1, $2, $3)'

/** Tells events at a steady rate, by the controllers' own statement, each in a commit of its own. */
const writer = async ({ databaseUrl, count, perSecond }: SideOrder): Promise<Running> => {
  const pg = makePg({ url: databaseUrl, max: 16 })
  const { rows } = await pg.query<{ epoch: number }>('epoch', 'select epoch from epochs where lease = $1', [LEASE])
  const epoch = rows[0]?.epoch
  const tell = (n: number) => {
    const at = new Date().toISOString()
    const event = { account: BENCH_ACCOUNT, type: 'invoice.sent', data: eventData(nameOf(n)) }
    const fact = { resource: nameOf(n), key: 'sent', kind: 'sent', body: {}, state: 'accepted', at, event }
    return pg.query('append_facts', APPEND, [LEASE, epoch, JSON.stringify([{ ...fact, writtenBy: 'controller' }])])
  }
  return {
    go: async () => {
      const startMs = performance.now()
      const told: Promise<unknown>[] = []
      for (let n = 0; n < count; n += 1) {
        const waitMs = startMs + (n * 1000) / perSecond - performance.now()
        if (waitMs > 1) await sleep(waitMs)
        told.push(tell(n))
      }
      await Promise.all(told)
    },
    end: () => pg.close(),
  }
}

if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? '') as SideOrder
  const running = await { ours, queued, bare, peer, peerQueued, writer }[order.side](order)
  process.on('disconnect', () => process.exit(0))
  process.on('message', async (word: 'go' | 'end') => {
    const startMs = performance.now()
    if (word === 'go') await running.go()
    else await running.end()
    process.send?.({ seconds: (performance.now() - startMs) / 1000 } satisfies SideDone)
  })
  process.send?.('ready')
}
