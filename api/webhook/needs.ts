/** What the handlers of webhooks take. */
import type { Deps } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

export type WebhookNeeds = Pick<Deps, 'egress' | 'allowLoopback' | 'mirror' | 'waiter' | 'keys' | 'now'> &
  Pick<Stores, 'endpoints'>
