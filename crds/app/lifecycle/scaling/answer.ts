/** How the answers about replicas are described. */
import type { JsonSchema } from '../../../kernel/rest.ts'
import { WEBSOCKETS } from './schema.ts'

const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description })

export const replicasAnswer: JsonSchema = {
  type: 'object',
  description: 'Containers of the routed service side by side.',
  properties: {
    asked: wholeOrNull('As the app says; null: a compose file that says a number sets it.'),
    wanted: { type: 'integer', description: 'How many are to run.' },
    live: wholeOrNull('Of the live release; null when nothing is live.'),
    ready: wholeOrNull('Those of them that answer; null before they were looked at.'),
  },
}

export const websocketsAnswer: JsonSchema = {
  type: 'string',
  description: 'What becomes of WebSockets of containers that leave.',
  enum: [...WEBSOCKETS],
}
