/** What the operator's people see of webhooks: how attempts ended, what was given up, what waits, and for how long. */

import type { Metrics } from '../ops/metrics.ts'
import type { DeliveryBacklog, Ended } from '../store/webhook/deliveries.ts'

const ATTEMPTS = ['first', 'again'] as const

/** @param backlog asked at each scrape @returns who counts attempts */
export const makeWebhookMetrics = (
  metrics: Metrics,
  backlog: () => Promise<DeliveryBacklog[]>,
): ((outcome: Ended['state']) => void) => {
  const attempts = metrics.counter({
    name: 'bottega_webhook_attempts_total',
    help: 'Attempts to deliver an event, by how they ended.',
    labelNames: ['outcome'],
  })
  const dead = metrics.counter({
    name: 'bottega_webhook_dead_letters_total',
    help: 'Deliveries that were given up after their last attempt, or because their endpoint is gone.',
  })
  /** Each asks for itself: what one writes of another may already have been read. */
  const gauge = (name: string, help: string, figureOf: (row: DeliveryBacklog) => number) =>
    metrics.gauge({
      name,
      help: `${help}, by whether it is a first attempt; each process says the same.`,
      labelNames: ['attempt'],
      async collect() {
        // a scrape says what it can while the database is away
        const rows = await backlog().catch((): DeliveryBacklog[] => [])
        for (const attempt of ATTEMPTS) {
          const row = rows.find((one) => one.attempt === attempt)
          this.set({ attempt }, row ? figureOf(row) : 0)
        }
      },
    })
  gauge('bottega_webhook_backlog', 'Deliveries that wait', ({ count }) => count)
  gauge('bottega_webhook_oldest_due_seconds', 'For how long the oldest has been due', ({ lateMs }) => lateMs / 1000)
  return (outcome) => {
    attempts.inc({ outcome })
    if (outcome === 'dead') dead.inc()
  }
}
