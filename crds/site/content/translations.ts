/**
 * The same site in a further language: words laid over those of the first, place by place. Pictures, focal points and the
 * order are the same in every language, so that they stand once. Source: decision `hack/decisions/060`.
 */
import { type ArraySchema, isObject, type ObjectSchema, type Schema } from '../../kernel/schema.ts'
import { title } from './content-fields.ts'
import { DESCRIPTION_MAX, LANGS, PAGES_MAX } from './meta.ts'

export const TRANSLATIONS_MAX = LANGS.length - 1

/** Fields that hold no word. */
const SHARED: ReadonlySet<string> = new Set(['image', 'secondImage', 'focus', 'form'])

/** The schema of what may be laid over a part: the same fields, all optional, without what is no word. */
const overlayOf = (schema: Schema): Schema => {
  if (schema.type === 'array') {
    const items = overlayOf(schema.items)
    return items === schema.items ? schema : { ...schema, items }
  }
  if (!isObject(schema)) return schema
  const { required, title: name, properties, ...rest } = schema
  const words = Object.entries(properties).filter(([key]) => !SHARED.has(key))
  const over = words.map(([key, child]) => [key, overlayOf(child)] as const)
  const same =
    words.length === Object.keys(properties).length && over.every(([key, child]) => child === properties[key])
  // one schema has one name
  if (required === undefined && same) return schema
  return {
    ...rest,
    ...(name !== undefined && { title: `${name}Translation` }),
    properties: Object.fromEntries(over),
  }
}

const pageWords = {
  type: 'object',
  title: 'SitePageTranslation',
  description: 'The words of the page in the same place of meta.pages.',
  properties: {
    title: { ...title({ description: 'Its name in the navigation.' }), maxLength: 80 },
    description: { ...title({ description: 'What it is about.' }), maxLength: DESCRIPTION_MAX },
  },
} as const satisfies ObjectSchema

const own = {
  lang: { type: 'string', description: 'The further language.', enum: LANGS, 'x-code': 'BAD_LANG' },
  companyName: title({ description: 'Who speaks, where it is another name.' }),
  description: { ...title({ description: 'What the company is.' }), maxLength: DESCRIPTION_MAX },
  pages: {
    type: 'array',
    description: 'The words of the pages, in the order of meta.pages.',
    maxItems: PAGES_MAX,
    'x-list': 'atomic',
    items: pageWords,
  },
} as const

/**
 * `translations` of a content that is made of these parts. Its type tells what every translation has; the parts are laid over
 * without being read.
 */
export const translationsOf = (parts: Readonly<Record<string, Schema>>) => {
  const overlays = Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, overlayOf(part)]))
  const properties: typeof own = { ...own, ...overlays }
  return {
    type: 'array',
    description: 'Further languages of the same site, each under its own path.',
    maxItems: TRANSLATIONS_MAX,
    'x-list': 'atomic',
    items: {
      type: 'object',
      title: 'SiteTranslation',
      description: 'Words over those of the first language: fields over fields, items of a list by their place.',
      required: ['lang'],
      properties,
    },
  } as const satisfies ArraySchema
}
