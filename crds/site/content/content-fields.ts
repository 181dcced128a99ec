/** The sorts of text that a content is made of, with their limits: a label, a title, a text, a link, a picture. */
import type { ObjectSchema, Schema, StringSchema } from '../../kernel/schema.ts'

export const LABEL_MAX = 80
export const TITLE_MAX = 160
export const TEXT_MAX = 2000
export const PROSE_MAX = 8000
export const URL_MAX = 2048
/** Characters of an image value; a data URI is the longest, 10 MB in base64. */
export const IMAGE_MAX = 14_000_000

type Described = { description: string }
export const label = <T extends Described>(field: T) =>
  ({ type: 'string', minLength: 1, maxLength: LABEL_MAX, 'x-text': 'line', ...field }) as const satisfies StringSchema
export const title = <T extends Described>(field: T) =>
  ({ type: 'string', minLength: 1, maxLength: TITLE_MAX, 'x-text': 'line', ...field }) as const satisfies StringSchema
export const text = <T extends Described>(field: T) =>
  ({ type: 'string', minLength: 1, maxLength: TEXT_MAX, 'x-text': 'block', ...field }) as const satisfies StringSchema
/** Several paragraphs, with an empty line between two. */
export const prose = <T extends Described>(field: T) =>
  ({ type: 'string', minLength: 1, maxLength: PROSE_MAX, 'x-text': 'block', ...field }) as const satisfies StringSchema

/** Schemes that a visitor may be led to; no script and no data. */
export const link = <T extends Described>(field: T) =>
  ({
    type: 'string',
    maxLength: URL_MAX,
    pattern: '^(https?://|mailto:|tel:)[^\\x00-\\x20\\x7F"<>\\\\]+$',
    ...field,
  }) as const satisfies StringSchema

/** Pixels only: an SVG may hold scripts, so it is refused here and again where the bytes are read. */
export const image = <T extends Described>(field: T) =>
  ({
    type: 'string',
    maxLength: IMAGE_MAX,
    pattern:
      '^(asset:[A-Za-z0-9][A-Za-z0-9._-]{0,63}|https://[^\\x00-\\x20\\x7F"<>\\\\]+|data:image/(png|jpeg|webp|avif);base64,[A-Za-z0-9+/]+={0,2})$',
    ...field,
  }) as const satisfies StringSchema

type ListOf<T> = { type: 'array'; description: string; maxItems: number; 'x-list': 'atomic'; items: T }

/** A list that is replaced whole. */
export const listOf = <const T extends Schema>(description: string, maxItems: number, items: T): ListOf<T> => ({
  type: 'array',
  description,
  maxItems,
  'x-list': 'atomic',
  items,
})

const percent = (description: string) => ({ type: 'integer', description, minimum: 0, maximum: 100 }) as const

/** The part of a picture that every crop keeps, in percent of its width and height from the top left corner. */
export const focus = {
  type: 'object',
  title: 'FocalPoint',
  description: 'The point that every crop of the picture keeps in its middle.',
  required: ['x', 'y'],
  properties: {
    x: percent('Percent of the width, from the left.'),
    y: percent('Percent of the height, from the top.'),
  },
} as const satisfies ObjectSchema

/** A picture that stands beside words: its source, what it shows, and its focal point. */
export const pictured = {
  image: image({ description: 'asset:KEY, a data URI or an https URL.' }),
  alt: title({ description: 'What the picture shows, for those who do not see it.' }),
  focus,
} as const
