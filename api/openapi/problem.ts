/** The form of refusals, as the documents describe it (rules/platform.md#errors). */
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'

/** The body of every refusal (RFC 9457), once. */
export const PROBLEM: JsonSchema = named('Problem', {
  type: 'object',
  description: 'A refusal: what is wrong, where, and what to do next.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string', description: 'Address of the page about this code.' },
    title: { type: 'string', description: 'What the code means.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What happened this time, with the figures.' },
    code: { type: 'string', description: 'The code, for machines. More may be added.' },
    request_id: { type: 'string', description: 'Names this request in the logs.' },
    next: { type: 'string', description: 'What to do next.' },
    outcome: {
      type: 'string',
      description:
        'Of what failed on our side (5xx): what became of what was asked. Only what was not stored may simply be sent again; otherwise look at Location first.',
      enum: ['not_stored', 'stored', 'unknown'],
    },
    errors: {
      type: 'array',
      description: 'Each place that is wrong.',
      items: {
        type: 'object',
        description: 'One finding.',
        required: ['code', 'pointer', 'detail'],
        properties: {
          code: { type: 'string', description: 'The code of this finding.' },
          pointer: { type: 'string', description: 'JSON pointer into the request.' },
          detail: { type: 'string', description: 'The rule and the figures.' },
        },
      },
    },
  },
})
