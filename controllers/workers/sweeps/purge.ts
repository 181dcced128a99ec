/** What lapses by itself, swept away in small batches by whoever leads: keys, operations, the log of deliveries, and what each kind has. */

import type { Log } from '../../base/log.ts'
import type { Pg } from '../../store/pg/pg.ts'
import { sweepKeys } from '../../store/request/idempotency.ts'
import { sweepOperations } from '../../store/request/operations.ts'
import { purgeDeliveries } from '../../store/webhook/deliveries.ts'

const SWEEP_MS = 600_000
const FIRST_MS = 60_000

export type SweepDeps = {
  pg: Pg
  now: () => Date
  /** Whether that clock may be believed; nothing lapses while it may not. Yes when left out. */
  isClockTrusted?: (() => boolean) | undefined
  log: Log
  /** Of the kinds, by their names. */
  kinds: ReadonlyMap<string, () => Promise<unknown>>
}

/** One sweep of everything. What fails is logged, and made up by the next. */
export const sweepAll = async (deps: SweepDeps): Promise<void> => {
  if (deps.isClockTrusted?.() === false) return
  await sweepKeys(deps).catch((error) => deps.log.warn({ err: error }, 'idempotency keys were not swept'))
  await sweepOperations(deps).catch((error) => deps.log.warn({ err: error }, 'operations were not swept'))
  await purgeDeliveries(deps).catch((error) => deps.log.warn({ err: error }, 'the log of deliveries was not swept'))
  for (const [kind, sweep] of deps.kinds) {
    await sweep().catch((error) => deps.log.warn({ err: error, kind }, 'a kind was not swept'))
  }
}

/** Sweeps every ten minutes; a sweep that fails is made up by the next. @returns the way to end it */
export const startSweep = (deps: SweepDeps): (() => void) => {
  const sweep = () => void sweepAll(deps)
  // Taking over comes first.
  const first = setTimeout(sweep, FIRST_MS)
  const timer = setInterval(sweep, SWEEP_MS)
  first.unref()
  timer.unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}
