import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { keysOfOne } from '../../controllers/base/keys.ts'
import { makeLog } from '../../controllers/base/log.ts'
import { makeCaches, type OperatorDeps, startOperator } from '../../controllers/operator.ts'
import { accountName, invoiceName, makeCrowd } from './sides/crowd.ts'
import type { BenchContext } from './sides/figure.ts'

/**
 * How long the event loop is held up while the operator starts over 5,000 accounts with 50,000 invoices, and while one account
 * changes among them: so long nobody is answered, and no lease is renewed. The API server is a crowd out of memory and the ledger
 * knows nothing, so that what is measured is the start itself; passes wait in their first look.
 */

const ACCOUNTS = 5_000
const INVOICES = 50_000
const BAR_MS = 200
/** Every held object has been told by then. */
const SETTLE_MS = 5_000
const CHANGES = 200
/** Longer than a start that goes on takes on a busy machine. */
const START_MAX_MS = 120_000

/** What the start itself asks of a ledger in which nothing happened; every generation of an invoice is kept already. */
const ASKED_AT_START: Record<string, () => object[]> = {
  ...{ observe_all_lives: () => [], observe_known: () => [], observe_on_record: () => [], observe_ahead: () => [] },
  ...{ observe_lost: () => [], mirror_known: () => [], mirror_unknown: () => [], schedule_due: () => [] },
  observe_kept: () => Array.from({ length: INVOICES }, (_, n) => ({ uid: `uid-${invoiceName(n)}`, generation: 1 })),
}

type EmptyLedger = { pg: OperatorDeps['pg']; unanswered: Set<string> }

/** What a pass asks stays unanswered. */
const emptyLedger = (): EmptyLedger => {
  const unanswered = new Set<string>()
  const query = ((name: string) => {
    const rows = ASKED_AT_START[name]
    if (rows) return Promise.resolve({ rows: rows() })
    unanswered.add(name)
    return new Promise(() => {})
  }) as unknown as OperatorDeps['pg']['query']
  const pg = {
    query,
    tx: (work: (given: typeof query) => unknown) => work(query),
    listen: async () => ({ close: async () => {} }),
  } as unknown as OperatorDeps['pg']
  return { pg, unanswered }
}

/** @throws with what was asked for nothing, should the start wait for an answer that nobody gives */
const orStuck = async <T>(start: Promise<T>, { unanswered }: EmptyLedger): Promise<T> => {
  const timer = new AbortController()
  const late = sleep(START_MAX_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the start waits; nobody answers ${[...unanswered].join(', ')}`)
  })
  late.catch(() => {}) // the start came to its end
  return Promise.race([start, late]).finally(() => timer.abort())
}

const longestMs = async (work: () => Promise<void>): Promise<number> => {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await work()
  delay.disable()
  return delay.max / 1e6
}

export async function bench({ progress, figure }: BenchContext): Promise<void> {
  const namespace = 'bench'
  const step = progress.step(`start: ${ACCOUNTS} accounts, ${INVOICES} invoices`)
  const crowd = makeCrowd({ namespace, accounts: ACCOUNTS, invoices: INVOICES })
  const ledger = emptyLedger()
  const nobody = { wake: () => {}, queued: () => {}, stop: async () => {} }
  const deps = {
    ...{ kube: crowd.kube, namespace, pg: ledger.pg, keys: keysOfOne(randomBytes(32)) },
    ...{ log: makeLog({ level: 'silent' }), now: () => new Date(), cards: null, paymentWorker: null },
    ...{ publicUrl: 'http://bench.test', mailDomain: 'bench.test', retentionDays: 30, allowLoopback: true },
    ...{ mailSender: () => nobody, webhookSender: () => nobody },
  } as unknown as OperatorDeps
  const caches = makeCaches(deps)
  await caches.synced
  let operator: Awaited<ReturnType<typeof startOperator>> | undefined
  const start = await longestMs(async () => {
    operator = await orStuck(startOperator(deps, caches, 1), ledger)
    await sleep(SETTLE_MS)
  })
  const change = await longestMs(async () => {
    for (let n = 0; n < CHANGES; n += 1) {
      crowd.change('Account', accountName(n), (account) => account)
      await sleep(1)
    }
  })
  step.done(`${ACCOUNTS} accounts, ${INVOICES} invoices`)
  const bar = { unit: 'ms', peer: 'the bar', peerValue: BAR_MS, goal: { atMost: 1 } }
  figure({
    name: `longest hold of the event loop, start over ${INVOICES} resources of ${ACCOUNTS} accounts`,
    value: start,
    ...bar,
  })
  figure({ name: `longest hold of the event loop, one account of ${ACCOUNTS} changes`, value: change, ...bar })
  await Promise.all([operator?.stop(0), caches.stop()])
}
