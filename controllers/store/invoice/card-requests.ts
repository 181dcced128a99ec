/**
 * What is asked of the card processor: a fact, and the row of the outbox by which it is done
 * (sql/functions/ask_processor.sql).
 */
import type { NewFact } from '../ledger/facts.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** Where the payment worker finds its rows. */
export const CARD_CHANNEL = 'card'

/** `messageId` is the processor's idempotency key. */
export type CardRequest = { account: string; fact: Omit<NewFact, 'event'>; messageId: string; payload: unknown }
export type RequestCard = (ask: CardRequest) => Promise<void>

/** @returns a function that asks once per key of the fact: what was asked stays */
export const makeCardRequests =
  ({ pg, epoch }: { pg: Pg; epoch: () => number }): RequestCard =>
  async ({ account, fact, messageId, payload }) => {
    const { resource, at } = fact
    const ask = { resource, account, fact: { ...fact, writtenBy: 'controller' }, messageId, payload, at }
    const values = [LEASE, epoch(), JSON.stringify(ask)]
    await pg.query('ask_processor', 'select ask_processor($1, $2, $3)', values)
  }
