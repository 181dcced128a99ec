/** One attempt to deliver one event, as the log shows it (rules/webhook.md#delivery-log). */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'dead', 'refused'] as const
export type WebhookDeliveryState = (typeof DELIVERY_STATES)[number]

/** As it is stored. Instants are ISO. */
export type DeliveryRow = {
  id: number
  eventId: string
  type: string
  sequence: number
  attempt: number
  state: WebhookDeliveryState
  status: number | null
  latencyMs: number | null
  error: string | null
  response: string | null
  nextAttemptAt: string | null
  createdAt: string
  settledAt: string | null
}

export const viewDelivery = (row: DeliveryRow) => ({
  id: String(row.id),
  event_id: row.eventId,
  type: row.type,
  sequence: row.sequence,
  attempt: row.attempt,
  state: row.state,
  status: row.status,
  latency_ms: row.latencyMs,
  error: row.error,
  response: row.response,
  next_attempt_at: row.nextAttemptAt,
  created_at: row.createdAt,
  settled_at: row.settledAt,
})
