/**
 * The payment worker takes requests to the card processor out of the outbox, sends each under the row's own idempotency
 * key, and records the answer as a fact before the row is settled. A crash in between asks again under the same key, and
 * the processor answers as it did (rules/invoice.md#card-collection).
 */

import { closedKey, failedKey, openedKey, reportKey } from '../../crds/invoice/facts/collected.ts'
import type { ProcessorRequest } from '../../crds/invoice/steps.ts'
import type { Log } from '../base/log.ts'
import { type CardProcessor, ProcessorError } from '../io/cards.ts'
import { CARD_CHANNEL } from '../store/invoice/card-requests.ts'
import type { NewFact } from '../store/ledger/facts.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { Outbox, OutboxRow, Settlement } from '../store/ledger/outbox.ts'
import { type OutboxWorker, startOutboxWorker } from './outbox-worker.ts'

/** Longer than any call (io/cards.ts), so a lease is never lost while the processor thinks. */
const LEASE_MS = 60_000
/** Calls under way at once. */
const LANES = 2
/** The wait after each attempt; all of them fall into the time for which the processor remembers a key. */
const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 21_600_000, 21_600_000]
/** The processor forgets a key after 24 hours: a refund under a forgotten one would be another refund, so it is looked for first. */
const KEY_MEMORY_MS = 23 * 3_600_000
/** Nobody waits for a checkout any longer than this; the next click asks anew. */
const OPEN_ATTEMPTS_MAX = 4

export type PaymentWorkerDeps = {
  outbox: Pick<Outbox, 'turn'>
  ledger: Pick<Ledger, 'appendFact'>
  processor: CardProcessor
  /** The platform's clock: what is recorded, and due when. */
  now: () => Date
  /** The processor's clock, which a development installation does not move. */
  wall?: () => Date
  log: Log
  /** The resource has something new to look at. */
  onAnswer(kind: string, resource: string): void
  onAttempt?(outcome: Settlement['state']): void
}

/** An instant as the processor said it, by the platform's clock. */
const atOurs = ({ now, wall = () => new Date() }: PaymentWorkerDeps, instant: string): string =>
  new Date(Date.parse(instant) + now().getTime() - wall().getTime()).toISOString()

type Answer = Pick<NewFact, 'key' | 'kind' | 'body' | 'state'>

/**
 * Asked for so long ago that asking again could make another one, also at the first attempt: an older copy of the database does not
 * know of those that followed it.
 */
const isForgotten = ({ createdAt }: OutboxRow, now: Date): boolean =>
  now.getTime() - Date.parse(createdAt) > KEY_MEMORY_MS

/** Makes the call, and says what is to be recorded of it. @throws ProcessorError */
const answerOf = async (deps: PaymentWorkerDeps, row: OutboxRow): Promise<Answer> => {
  const { processor } = deps
  const ask = row.payload as ProcessorRequest
  const of = { invoice: row.resource, key: row.messageId }
  switch (ask.ask) {
    case 'open': {
      const opened = await processor.open(ask, of)
      const body = { session: ask.session, ...opened, expiresAt: atOurs(deps, opened.expiresAt) }
      return { key: openedKey(ask.session), kind: 'opened', body, state: 'accepted' }
    }
    case 'end': {
      const how = await processor.end(ask)
      return { key: closedKey(ask.id), kind: 'closed', body: { id: ask.id, how }, state: 'accepted' }
    }
    case 'refund': {
      const made = isForgotten(row, deps.now()) ? await processor.refunded(ask, of) : null
      const { id, state, reason } = made ?? (await processor.refund(ask, of))
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
  const isLate = (row.payload as ProcessorRequest).ask === 'open' && row.attempt >= OPEN_ATTEMPTS_MAX
  return error.temporary && !isLate ? RETRY_AFTER_MS[row.attempt - 1] : undefined
}

const failureOf = (row: OutboxRow, reason: string): Answer => ({
  key: failedKey(row.purpose),
  kind: 'card_failed',
  body: { purpose: row.purpose, reason },
  state: 'accepted',
})

/** One attempt, with what is recorded of it. @throws when the record cannot be written: the processor is then asked again under the same key */
const attempt = async (deps: PaymentWorkerDeps, row: OutboxRow): Promise<Settlement> => {
  const base = { id: row.id, attempt: row.attempt }
  const record = async (answer: Answer) => {
    await deps.ledger.appendFact({
      ...answer,
      resource: row.resource,
      resourceKind: row.kind,
      at: deps.now().toISOString(),
    })
    deps.onAnswer(row.kind, row.resource)
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

/** Starts at once. */
export const startPaymentWorker = (deps: PaymentWorkerDeps): OutboxWorker =>
  startOutboxWorker({
    outbox: deps.outbox,
    channel: CARD_CHANNEL,
    leaseMs: LEASE_MS,
    lanes: LANES,
    shareMs: 0,
    attempt: (row) => attempt(deps, row),
    onRecorded: (_row, { state }) => deps.onAttempt?.(state),
    now: deps.now,
    log: deps.log,
  })
