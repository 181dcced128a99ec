/** What the spec and the status of an app say of its replicas (rules/app.md#replicas). */
import type { Schema } from '../../../kernel/schema.ts'
import { REPLICAS_MAX } from '../../compose/project.ts'

export const WEBSOCKETS = ['drain', 'cut'] as const

export const replicas = {
  type: 'integer',
  description:
    'Containers of the routed service side by side, each with its limits and all of them with the budget of the app each; 1 when left out. A service that keeps something has one.',
  minimum: 1,
  maximum: REPLICAS_MAX,
} as const satisfies Schema

export const websockets = {
  type: 'string',
  description:
    'What becomes of WebSockets of containers that leave. drain: they may end by themselves, for drainSeconds at most. cut: they end as soon as no request is under way there. drain when left out.',
  enum: WEBSOCKETS,
} as const satisfies Schema

export const servingStatus = {
  replicas: { type: 'integer', description: 'Containers of its routed service that answer.' },
  serving: {
    type: 'string',
    description: 'Containers of its routed service that answer, of those that are to: 2/3.',
    maxLength: 16,
  },
} as const satisfies Record<string, Schema>
