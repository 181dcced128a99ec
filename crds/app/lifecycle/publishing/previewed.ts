/** What says that an app is a preview, in its spec, in the ledger and in answers (rules/app.md#previews). */
import { ID_MAX, NAME_PATTERN } from '../../../kernel/fields.ts'
import type { JsonSchema } from '../../../kernel/rest.ts'
import type { ObjectSchema } from '../../../kernel/schema.ts'

export const previewOf = {
  type: 'object',
  description:
    'Makes it a preview of another app: one of its branches, under a name of its own, until an end. It goes with that app, and is not shown to search engines. Which app and which branch is fixed at creation.',
  required: ['app', 'ref', 'expiresAt'],
  'x-rest': 'hidden',
  properties: {
    app: {
      type: 'string',
      description: 'The app that it is of, of the same account, and no preview itself.',
      minLength: 1,
      maxLength: ID_MAX,
      pattern: NAME_PATTERN,
    },
    ref: { type: 'string', description: 'The branch, tag or commit.', minLength: 1, maxLength: 200 },
    expiresAt: {
      type: 'string',
      description: 'When it ends: it is deleted then with all that it has.',
      maxLength: 24,
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$',
    },
  },
} as const satisfies ObjectSchema

/** One of an app, as the ledger has it. Instants are ISO. */
export type PreviewRow = {
  /** The app that is the preview. */
  app: string
  /** The app that it is of. */
  parent: string
  ref: string
  createdAt: string
  expiresAt: string
  /** When nothing of it was left; null before that. */
  endedAt: string | null
  reason: PreviewEnd | null
}

export const PREVIEW_ENDS = ['expired', 'deleted'] as const
export type PreviewEnd = (typeof PREVIEW_ENDS)[number]

/** `own`: what makes the app a preview. `open`: previews of it that have not ended. `asked`: those that this pass has deleted. */
export type PreviewsWorld = { own: PreviewRow | null; open: PreviewRow[]; asked?: string[] }

export const NO_PREVIEWS: PreviewsWorld = { own: null, open: [] }

const text = (description: string): JsonSchema => ({ type: 'string', description })
const until = {
  ref: text('The branch, tag or commit.'),
  expires_at: text('When it ends by itself.'),
}

export const previewOfAnswer: JsonSchema = {
  type: ['object', 'null'],
  description: 'What it is a preview of; null for an app of its own.',
  properties: { app: text('The app.'), ...until },
}

export const previewsAnswer: JsonSchema = {
  type: 'array',
  description: 'Previews of it that have not ended.',
  items: {
    type: 'object',
    description: 'A preview.',
    properties: { id: text('Names the app that it is.'), ...until },
  },
}
