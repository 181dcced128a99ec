/** Where pictures stand in a content, and what they are made of. A picture is `asset:KEY`, a data URI, or an https address. */
import { isObject, type Schema } from '../../kernel/schema.ts'
import { imageKey } from '../render/input.ts'
import type { SiteSpec } from '../schema.ts'

/** Fields that hold a picture, wherever they stand in the content. */
const PICTURE_FIELDS = new Set(['image', 'secondImage'])
/** The asset that stands for the company. */
export const LOGO_KEY = 'logo'

/** `pointer` is in the names of the spec. */
export type PictureValue = { pointer: string; value: string }

/** Every picture of a content, in the order of its schema. */
export const pictureValues = (schema: Schema, value: unknown, at = ''): PictureValue[] => {
  if (value === undefined || value === null) return []
  if (schema.type === 'array' && Array.isArray(value)) {
    return value.flatMap((item, index) => pictureValues(schema.items, item, `${at}/${index}`))
  }
  if (!isObject(schema) || typeof value !== 'object') return []
  return Object.entries(schema.properties).flatMap(([name, child]) => {
    const held: unknown = Reflect.get(value, name)
    if (!PICTURE_FIELDS.has(name)) return pictureValues(child, held, `${at}/${name}`)
    return typeof held === 'string' ? [{ pointer: `${at}/${name}`, value: held }] : []
  })
}

/** The content with each picture's value replaced; what is not a picture stays the same object. */
export const withPictures = <T>(schema: Schema, value: T, replace: (value: string) => string): T =>
  replaced(schema, value, replace) as T

const replaced = (schema: Schema, value: unknown, replace: (value: string) => string): unknown => {
  if (schema.type === 'array' && Array.isArray(value)) return value.map((item) => replaced(schema.items, item, replace))
  if (!isObject(schema) || typeof value !== 'object' || value === null) return value
  const pairs = Object.entries(value).map(([name, held]) => {
    const child = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (PICTURE_FIELDS.has(name) && typeof held === 'string') return [name, replace(held)]
    return [name, child ? replaced(child, held, replace) : held]
  })
  return Object.fromEntries(pairs)
}

/** The key of `asset:KEY`; null for any other picture. */
export const assetKeyOf = (value: string): string | null =>
  value.startsWith('asset:') ? value.slice('asset:'.length) : null

/**
 * Each picture that the pages need, once: its key in `SiteInput.images`, and its source, a sha256 of stored bytes or an https
 * address.
 */
export const pictureSources = (
  schema: Schema,
  { content, assets = {} }: Pick<SiteSpec, 'content' | 'assets'>,
): Map<string, string> => {
  const sources = new Map<string, string>()
  for (const { value } of pictureValues(schema, content)) {
    const key = assetKeyOf(value)
    const source = key === null ? value : assets[key]
    if (source !== undefined && !source.startsWith('data:')) sources.set(imageKey(value), source)
  }
  return sources
}
