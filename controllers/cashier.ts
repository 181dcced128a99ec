/**
 * The cashier: takes what is to be asked of the card processor out of the outbox, asks it under the row's own idempotency
 * key, and records the answer as a fact before the row is settled. A crash in between asks again under the same key, and
 * the processor answers as it did (spec/1 "Optional card collection"; DESIGN section 1).
 */

import { closedKey, failedKey, openedKey, reportKey } from '../crds/invoice/collected.ts'
import type { Ask } from '../crds/invoice/collectplan.ts'
import { type CardProcessor, ProcessorError } from './io/cards.ts'
import { CARD_CHANNEL } from './runtime/cardasks.ts'
import type { NewFact } from './runtime/facts.ts'
import type { Ledger } from './runtime/ledger.ts'
import type { Log } from './runtime/log.ts'
import type { Outbox, OutboxRow, Settlement } from './runtime/outbox.ts'

/** Longer than any call (io/cards.ts), so a lease is never lost while the processor thinks. */
const LEASE_MS = 60_000
const POLL_MS = 1_000
/** Calls under way at once. */
const LANES = 2
/** The wait after each attempt; all of them fall into the time for which the processor remembers a key. */
const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 21_600_000, 21_600_000]
/** The processor forgets a key after 24 hours: a refund under a forgotten one would be another refund. */
const KEY_MEMORY_MS = 23 * 3_600_000
/** Nobody waits for a checkout any longer than this; the next click asks anew. */
const OPEN_ATTEMPTS_MAX = 4

export type CashierDeps = {
  outbox: Pick<Outbox, 'turn'>
  ledger: Pick<Ledger, 'appendFact'>
  processor: CardProcessor
  now: () => Date
  log: Log
  /** The invoice has something new to look at. */
  onAnswer(resource: string): void
  onAttempt?(outcome: Settlement['state']): void
}

export type Cashier = {
  /** Something may be due. */
  wake(): void
  /** Takes nothing more and waits for what is under way. */
  stop(): Promise<void>
}

type Answer = Pick<NewFact, 'key' | 'kind' | 'body' | 'state'>

/** Makes the call, and says what is to be recorded of it. @throws ProcessorError */
const answerOf = async ({ processor }: CashierDeps, row: OutboxRow): Promise<Answer> => {
  const ask = row.payload as Ask
  const of = { invoice: row.resource, key: row.messageId }
  switch (ask.ask) {
    case 'open': {
      const opened = await processor.open(ask, of)
      const body = { session: ask.session, ...opened }
      return { key: openedKey(ask.session), kind: 'opened', body, state: 'accepted' }
    }
    case 'end': {
      const how = await processor.end(ask)
      return { key: closedKey(ask.id), kind: 'closed', body: { id: ask.id, how }, state: 'accepted' }
    }
    case 'refund': {
      const { id, state, reason } = await processor.refund(ask, of)
      // decided on by the plan, which knows what is told of it
      const body = { part: ask.part, refund: id, state, reason }
      return { key: reportKey(id, state), kind: 'refund_report', body, state: 'pending' }
    }
    default:
      return ask satisfies never
  }
}

/** When to try again; undefined: it is of no use. */
const waitOf = (row: OutboxRow, error: ProcessorError): number | undefined => {
  const isLate = (row.payload as Ask).ask === 'open' && row.attempt >= OPEN_ATTEMPTS_MAX
  return error.temporary && !isLate ? RETRY_AFTER_MS[row.attempt - 1] : undefined
}

/** A refund that was asked for before, so long ago that asking again could make a second one. */
const isForgotten = (row: OutboxRow, now: Date): boolean =>
  (row.payload as Ask).ask === 'refund' && row.attempt > 1 && now.getTime() - Date.parse(row.createdAt) > KEY_MEMORY_MS

const failureOf = (row: OutboxRow, reason: string): Answer => ({
  key: failedKey(row.purpose),
  kind: 'card_failed',
  body: { purpose: row.purpose, reason },
  state: 'accepted',
})

/** One attempt, with what is recorded of it. @throws when the record cannot be written: the row is then asked again */
const attempt = async (deps: CashierDeps, row: OutboxRow): Promise<Settlement> => {
  const base = { id: row.id, attempt: row.attempt }
  const record = async (answer: Answer) => {
    await deps.ledger.appendFact({ ...answer, resource: row.resource, at: deps.now().toISOString() })
    deps.onAnswer(row.resource)
  }
  if (isForgotten(row, deps.now())) {
    const reason = 'nobody knows whether it was made, and its key is forgotten by now'
    await record(failureOf(row, reason))
    return { ...base, state: 'failed', error: reason }
  }
  let answer: Answer
  try {
    answer = await answerOf(deps, row)
  } catch (error) {
    deps.log.warn({ err: error, resource: row.resource, attempt: row.attempt }, 'card processor did not answer')
    if (!(error instanceof ProcessorError)) throw error
    const waitMs = waitOf(row, error)
    if (waitMs !== undefined) {
      const dueAt = new Date(deps.now().getTime() + waitMs).toISOString()
      return { ...base, state: error.isUnknown ? 'unknown' : 'queued', error: error.message, dueAt }
    }
    await record(failureOf(row, error.message))
    return { ...base, state: 'failed', error: error.message }
  }
  await record(answer)
  return { ...base, state: 'sent' }
}

/** Starts at once; one loop per lane, each with at most one call in hand, so that a slow one holds up no other. */
export const startCashier = (deps: CashierDeps): Cashier => {
  let stopping = false
  const sleepers = new Set<() => void>()
  const wake = () => {
    for (const rouse of sleepers) rouse()
  }
  const sleep = () =>
    new Promise<void>((resolve) => {
      const rouse = () => {
        clearTimeout(timer)
        sleepers.delete(rouse)
        resolve()
      }
      const timer = setTimeout(rouse, POLL_MS)
      sleepers.add(rouse)
    })

  /** Records how the call before went and takes the next, in one commit; null when the outbox cannot be reached. */
  const turn = async (last: Settlement | null): Promise<OutboxRow[] | null> => {
    try {
      const wish = { channel: CARD_CHANNEL, limit: stopping ? 0 : 1, leaseMs: LEASE_MS }
      const rows = await deps.outbox.turn(last ? [last] : [], wish)
      if (last) deps.onAttempt?.(last.state)
      return rows
    } catch (error) {
      deps.log.warn({ err: error }, 'cashier cannot reach the outbox')
      return null
    }
  }

  /** @returns what is to be recorded by the next step */
  const step = async (last: Settlement | null): Promise<Settlement | null> => {
    const rows = await turn(last)
    const row = rows?.[0]
    if (row) {
      return attempt(deps, row).catch((error: unknown) => {
        // its lease runs out, and the processor is asked again under the same key
        deps.log.warn({ err: error, resource: row.resource }, 'an answer of the card processor was not recorded')
        return null
      })
    }
    if (!stopping) await sleep()
    return rows === null && !stopping ? last : null
  }

  const lane = async () => {
    let last: Settlement | null = null
    while (!stopping || last) last = await step(last)
  }
  const lanes = Promise.all(Array.from({ length: LANES }, lane))
  return {
    wake,
    stop: async () => {
      stopping = true
      wake()
      await lanes
    },
  }
}
