/** The sorts of text that a content is made of, with their limits: a label, a title, a text, a link, a picture. */
import type { StringSchema } from '../../kernel/schema.ts'

export const LABEL_MAX = 80
export const TITLE_MAX = 160
export const TEXT_MAX = 2000
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
