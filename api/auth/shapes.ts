/** Shapes of bodies and answers about tokens, as JSON schemas. */

import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { textPattern } from '../../crds/kernel/schema.ts'
import { paging } from '../openapi/paging.ts'
import { closed, flag, list, object, text, textOrNull } from '../openapi/schemas.ts'
import { PRESET_NAMES, SCOPE_NAMES } from './scopes.ts'

const NAME_MAX = 100
/** A day. */
export const GRACE_MAX_SECONDS = 86_400

const scopeName: JsonSchema = named('Scope', { type: 'string', description: 'One scope.', enum: SCOPE_NAMES })

export const mintBody = closed(
  object('The token to make: with scopes or with a preset.', {
    name: {
      type: 'string',
      description: 'What it is for: one line with something to see in it.',
      minLength: 1,
      maxLength: NAME_MAX,
      pattern: textPattern('line'),
      allOf: [{ pattern: '\\S' }],
    },
    scopes: { ...list('What it may do.', scopeName), minItems: 1, maxItems: SCOPE_NAMES.length, uniqueItems: true },
    preset: { type: 'string', description: 'A common choice of scopes.', enum: PRESET_NAMES },
    expires_at: {
      type: ['string', 'null'],
      description: 'When it ends, with an offset or Z; never when left out.',
      pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})$',
    },
  }),
  ['name'],
)

export const graceBody = closed(
  object('How long the old secret goes on.', {
    grace_seconds: {
      type: 'integer',
      description: 'Seconds for which the old secret still opens; 0 when left out.',
      minimum: 0,
      maximum: GRACE_MAX_SECONDS,
    },
  }),
  [],
)

const scopes: JsonSchema = { ...list('What it may do; null for full access.', scopeName), type: ['array', 'null'] }

const token = named(
  'Token',
  object('A token, without its secret.', {
    id: text('Names the token; the part after btg_.'),
    name: text('What it is for.'),
    scopes,
    preset: textOrNull('The preset it was made with.'),
    created_at: text('When it was made.'),
    expires_at: textOrNull('When it ends.'),
    last_used_at: textOrNull('When it was last used, to the minute.'),
    rotated_at: textOrNull('When its secret was last replaced.'),
    previous_until: textOrNull('Until when the secret before that still opens.'),
  }),
)

export const catalogueAnswer = named(
  'ScopeCatalogue',
  object('The catalogue.', {
    scopes: list(
      'In the order in which they are shown.',
      object('One scope.', { name: scopeName, description: text('What it allows.') }),
    ),
    presets: list(
      'Common choices.',
      object('One preset.', {
        name: text('Its name.'),
        description: text('What it is for.'),
        scopes: list('What it holds.', scopeName),
      }),
    ),
  }),
)

export const heldAnswer = named(
  'HeldCredential',
  object('What this credential is and may do.', {
    kind: { type: 'string', description: 'token or session.', enum: ['token', 'session'] },
    account: text('The account it acts for.'),
    full_access: flag('True when scopes are not checked.'),
    scopes,
    token: { ...token, type: ['object', 'null'], description: 'The token; null for a session.' },
  }),
)

export const listAnswer = object('One page.', {
  tokens: list('Newest first.', token),
  ...paging,
})

export const mintedAnswer = named(
  'MintedToken',
  object('A token and its secret.', {
    token,
    secret: text('The whole token, to be sent as bearer. It is shown this once.'),
  }),
)
