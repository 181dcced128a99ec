/** Refusals of webhooks (rules/webhook.md#endpoints). */
import type { ProblemEntry } from './entry.ts'

export const WEBHOOK_PROBLEMS = {
  ENDPOINT_LIMIT: {
    status: 409,
    title: 'The account has as many webhook endpoints as it may',
    next: 'Delete one, or change one with PATCH /api/webhooks/:id.',
  },
  BAD_URL: {
    status: 400,
    title: 'Nothing can be delivered to this address',
    next: 'Name a public https address without credentials.',
  },
  BAD_EVENT: {
    status: 400,
    title: 'There is no such event',
    next: 'Use names that the OpenAPI lists under events, <object>.* for all of one object, or * for all.',
  },
  ENDPOINT_EXISTS: {
    status: 409,
    title: 'Another endpoint of the account has this url and these events',
    next: 'Use the one that is there, or delete it first.',
  },
  ENDPOINT_DISABLED: {
    status: 409,
    title: 'The endpoint is switched off',
    next: 'Switch it on with PATCH {"status": "enabled"}, then send again what it has missed.',
  },
} as const satisfies Record<string, ProblemEntry>
