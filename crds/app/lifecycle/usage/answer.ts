/** How the answer about the usage of an app is described. */
import { named } from '../../../kernel/named.ts'
import type { JsonSchema } from '../../../kernel/rest.ts'

const text = (description: string): JsonSchema => ({ type: 'string', description })
const whole = (description: string): JsonSchema => ({ type: 'integer', description })
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description })

const counts = {
  requests: whole('Requests that were answered.'),
  errors_5xx: whole('Of them those that failed.'),
  p50_ms: wholeOrNull('Half of them took no longer; null without any.'),
  p95_ms: wholeOrNull('95 of 100 took no longer; null without any.'),
  cpu_millis: wholeOrNull('Thousandths of a processor, on average; null where nobody looked.'),
  memory_mib: wholeOrNull('The most memory that was seen, in MiB.'),
  disk_mib: wholeOrNull('The most disk that was seen, in MiB.'),
  restarts: whole('How often its containers were started again.'),
}

const point = named('AppUsagePoint', {
  type: 'object',
  description: 'What was seen from one instant to the next point.',
  properties: { at: text('The instant.'), ...counts },
})

export const usageAnswer = named('AppUsage', {
  type: 'object',
  description: 'What an app was asked and what it used.',
  properties: {
    from: text('The first instant.'),
    to: text('The instant behind the last.'),
    step_seconds: whole('How long a point is.'),
    total: { type: 'object', description: 'Of the whole span.', properties: counts },
    points: { type: 'array', description: 'In their order; where nothing was seen there is none.', items: point },
  },
})
