/** The brand of a site: a template's palette and fonts, with an account's own tokens laid over them. */
import type { Infer, ObjectSchema } from '../schema.ts'

export const COLOUR_MAX = 64
export const FONT_PAIRS = ['hanken', 'cormorant-jost', 'system'] as const

const colour = {
  type: 'string',
  minLength: 3,
  maxLength: COLOUR_MAX,
  'x-text': 'line',
  'x-code': 'BAD_TOKENS',
} as const

/** The body of PUT /api/website/brand-tokens. */
export const brandTokens = {
  type: 'object',
  description: 'Colours and fonts of an account, clamped so that everything can be read.',
  properties: {
    accent: { ...colour, description: 'Links, buttons and small marks.' },
    ink: { ...colour, description: 'Text.' },
    paper: { ...colour, description: 'The ground that text stands on.' },
    fontPair: {
      type: 'string',
      description: 'A font pair of GET /templates.',
      enum: FONT_PAIRS,
      'x-code': 'BAD_TOKENS',
    },
  },
} as const satisfies ObjectSchema

export type BrandTokens = Infer<typeof brandTokens>
export type FontPair = (typeof FONT_PAIRS)[number]
