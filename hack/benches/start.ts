import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { keysOfOne } from '../../controllers/base/keys.ts'
import { makeLog } from '../../controllers/base/log.ts'
import { makeCaches, type OperatorDeps, startOperator } from '../../controllers/operator.ts'
import { accountName, makeCrowd } from './sides/crowd.ts'
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

/** An empty ledger; what a pass asks stays unanswered. */
const emptyLedger = (): OperatorDeps['pg'] => {
  const start =
    /^(observe_all_lives|observe_known|observe_on_record|observe_ahead|mirror_known|mirror_unknown|schedule_due)$/
  const query = ((name: string) =>
    start.test(name) ? Promise.resolve({ rows: [] }) : new Promise(() => {})) as unknown as OperatorDeps['pg']['query']
  return {
    query,
    tx: (work: (given: typeof query) => unknown) => work(query),
    listen: async () => ({ close: async () => {} }),
  } as unknown as OperatorDeps['pg']
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
  const nobody = { wake: () => {}, queued: () => {}, stop: async () => {} }
  const deps = {
    ...{ kube: crowd.kube, namespace, pg: emptyLedger(), keys: keysOfOne(randomBytes(32)) },
    ...{ log: makeLog({ level: 'silent' }), now: () => new Date(), cards: null, paymentWorker: null },
    ...{ publicUrl: 'http://bench.test', mailDomain: 'bench.test', retentionDays: 30, allowLoopback: true },
    ...{ mailSender: () => nobody, webhookSender: () => nobody },
  } as unknown as OperatorDeps
  const caches = makeCaches(deps)
  await caches.synced
  let operator: Awaited<ReturnType<typeof startOperator>> | undefined
  const start = await longestMs(async () => {
    operator = await startOperator(deps, caches, 1)
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
