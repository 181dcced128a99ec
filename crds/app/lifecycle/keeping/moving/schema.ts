import { ID_MAX } from '../../../../kernel/fields.ts'
import type { ArraySchema } from '../../../../kernel/schema.ts'

/** Of the status of an app. */
export const leavingStatus = {
  type: 'array',
  description:
    'Hosts that it has left and whose visitors are sent on, or that it did not come to, until nothing of it is there.',
  'x-list': 'set',
  maxItems: 64,
  items: { type: 'string', description: 'A host.', maxLength: ID_MAX },
} as const satisfies ArraySchema
