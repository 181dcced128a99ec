/** What is asked of the card processor: a fact, and the row of the outbox by which it is done (sql/0027_collect.sql). */
import type { NewFact } from './facts.ts'
import { LEASE } from './fence.ts'
import type { Pg } from './pg.ts'

/** Where the cashier finds its rows. */
export const CARD_CHANNEL = 'card'

/** `messageId` is the processor's idempotency key. */
export type CardAsk = { fact: Omit<NewFact, 'event'>; messageId: string; payload: unknown }
export type CardAsks = (ask: CardAsk) => Promise<void>

/** @returns a function that asks once per key of the fact: what was asked stays */
export const makeCardAsks =
  ({ pg, epoch }: { pg: Pg; epoch: () => number }): CardAsks =>
  async ({ fact, messageId, payload }) => {
    const { resource, at } = fact
    const ask = { resource, fact: { ...fact, writtenBy: 'controller' }, messageId, payload, at }
    const values = [LEASE, epoch(), JSON.stringify(ask)]
    await pg.query('ask_processor', 'select ask_processor($1, $2, $3)', values)
  }
