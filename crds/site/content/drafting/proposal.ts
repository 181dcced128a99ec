/**
 * What a language model may propose for a website: words of the content model, and for each the words of the source that it rests on.
 * Nothing that acts, nothing that looks: no picture, no layout, no template, no form, no metadata (rules/site.md#drafts).
 */
import { named, nameOf } from '../../../kernel/named.ts'
import type { Fault } from '../../../kernel/problem.ts'
import { type JsonSchema, restPointer, restSchema, toPatch } from '../../../kernel/rest.ts'
import { withDefaults } from '../../../kernel/schema.ts'
import { strictSchema, withoutNulls } from '../../../kernel/strict.ts'
import { CONTENT_MAX_BYTES } from '../../schema.ts'
import { content as contentSchema, type SentContent } from '../content.ts'
import { contentFaults } from '../faults/content.ts'
import { rebuilt } from './rebuild.ts'

export type Quote = { pointer: string; quote: string }
/** What a model says of a photo; `photo` counts from 1. */
export type PhotoWords = { photo: number; alt: string; caption?: string }
export type Draft = Record<string, unknown>
export type SiteProposal = { draft: Draft; quotes: Quote[]; shown: PhotoWords[]; strangers: string[] }
export type DraftSeverity = 'high' | 'medium' | 'low'
export type DraftWarning = { code: string; pointer: string; detail: string; severity: DraftSeverity }

export const QUOTES_MAX = 600
export const QUOTE_MAX = 600
const PHOTOS_MAX = 6

/** Sections that a model writes nothing in. */
const LEFT_OUT = new Set([
  ...[
    'labels',
    'size_guide',
    'gallery',
    'translations',
    'image_hover',
    'products_layout',
    'services_layout',
    'team_layout',
  ],
])
/** Fields that hold no word of a source, or that only its owner can answer for. */
const FIELDS_LEFT_OUT = new Set([
  ...['image', 'second_image', 'images', 'alt', 'focus', 'form', 'stars', 'countdown', 'exceptions', 'country', 'page'],
  ...['layout', 'template', 'currency', 'section_order', 'left_out', 'pages'],
])

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What stays as it is keeps its name; what is less has another one. */
const without = (schema: JsonSchema, left: ReadonlySet<string>): JsonSchema => {
  if (isRecord(schema.items)) {
    const items = without(schema.items, FIELDS_LEFT_OUT)
    return items === schema.items ? schema : { ...schema, items }
  }
  if (!isRecord(schema.properties)) return schema
  const before = Object.entries(schema.properties)
  const kept = before
    .filter(([name]) => !left.has(name))
    .map(([name, child]) => [name, without(child as JsonSchema, FIELDS_LEFT_OUT)] as const)
  if (
    kept.length === before.length &&
    kept.every(([name, child]) => child === Reflect.get(schema.properties as object, name))
  )
    return schema
  const less = { ...schema, properties: Object.fromEntries(kept) }
  const name = nameOf(schema)
  return name === undefined ? less : named(`${name}Draft`, less)
}

/** What a model may write, as POST /api/website/generate takes it in `content`. */
const written = without(restSchema(contentSchema), LEFT_OUT)
const pictures = ((restSchema(contentSchema).properties as Record<string, JsonSchema>).gallery ?? {}) as JsonSchema

/** A draft as it is answered: with the photos of an extract as its gallery. */
export const draftSchema: JsonSchema = named('SiteDraft', {
  ...written,
  description:
    'A content model without anything invented. Nothing is stored: send it as content to POST /api/website/generate.',
  properties: { ...(written.properties as Record<string, JsonSchema>), gallery: pictures },
})

const quotes: JsonSchema = {
  type: 'array',
  description:
    'For every text that you write: its place, and the words of the source that it rests on, copied letter by letter.',
  items: {
    type: 'object',
    required: ['pointer', 'quote'],
    properties: {
      pointer: { type: 'string', description: 'JSON pointer into content, as /hero/lede or /products/0/price.' },
      quote: { type: 'string', description: 'Verbatim, in the language of the source, one sentence or line of it.' },
    },
  },
}
const shown: JsonSchema = {
  type: 'array',
  description: 'What each photo shows.',
  items: {
    type: 'object',
    required: ['photo', 'alt'],
    properties: {
      photo: { type: 'integer', description: 'Which one, from 1.' },
      alt: { type: 'string', description: 'What it shows, for those who do not see it.' },
      caption: { type: 'string', description: 'A few words below it.' },
    },
  },
}

/** What the model is to answer with. @param photos whether it is shown any */
export const proposalSchema = ({ photos }: { photos: boolean }): JsonSchema =>
  strictSchema({
    type: 'object',
    required: ['content', 'quotes', ...(photos ? ['photos'] : [])],
    properties: { content: written, quotes, ...(photos && { photos: shown }) },
  })

const strangersOf = (said: Record<string, unknown>): string[] =>
  Object.keys(said)
    .filter((name) => !Object.hasOwn(written.properties as object, name))
    .map((name) => name.replace(/[^\w-]/g, '?').slice(0, 60))
    .slice(0, 5)

const known = (said: Record<string, unknown>): Draft =>
  Object.fromEntries(Object.entries(said).filter(([name]) => Object.hasOwn(written.properties as object, name)))

const quotesOf = (said: unknown): Quote[] =>
  (Array.isArray(said) ? said : [])
    .filter((one): one is Quote => typeof one?.pointer === 'string' && typeof one.quote === 'string')
    .slice(0, QUOTES_MAX)
    .map(({ pointer, quote }) => ({ pointer: pointer.slice(0, 200), quote: quote.slice(0, QUOTE_MAX) }))

const shownOf = (said: unknown): PhotoWords[] =>
  (Array.isArray(said) ? said : [])
    .filter((one): one is PhotoWords => Number.isInteger(one?.photo) && typeof one.alt === 'string')
    .slice(0, PHOTOS_MAX)
    .map(({ photo, alt, caption }) => ({ photo, alt, ...(typeof caption === 'string' && { caption }) }))

/** Its language is the one that was asked for; else the model's own. */
const inLang = (draft: Draft, lang: string | undefined): Draft =>
  lang === undefined ? draft : { ...draft, meta: { ...(isRecord(draft.meta) ? draft.meta : {}), lang } }

/** Rounds in which what is wrong is left out; what is wrong after that is wrong as a whole. */
const ROUNDS_MAX = 4

const isThere = (value: unknown, pointer: string): boolean => {
  let at: unknown = value
  for (const segment of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return false
    at = Reflect.get(at, segment)
  }
  return true
}
/** The part itself, or what it is missing from. */
const dropped = (draft: Draft, pointer: string): string =>
  isThere(draft, pointer) ? pointer : pointer.slice(0, pointer.lastIndexOf('/'))

const wordlessPointers = (value: unknown, at = ''): string[] => {
  if (value === '') return [at]
  if (Array.isArray(value)) return value.flatMap((one, index) => wordlessPointers(one, `${at}/${index}`))
  return isRecord(value) ? Object.entries(value).flatMap(([key, one]) => wordlessPointers(one, `${at}/${key}`)) : []
}

/**
 * The proposal in the shape of a content: what is wrong in a part is left out with the part, and told.
 * @param shape the findings of `draftSchema` over a value
 */
export const readProposal = (
  answer: unknown,
  lang: string | undefined,
  shape: (value: unknown) => Fault[],
): { proposal: SiteProposal; warnings: DraftWarning[] } | { faults: Fault[] } => {
  const said = withoutNulls(answer)
  if (!isRecord(said) || !isRecord(said.content)) {
    return { faults: [{ code: 'INVALID_FIELD', pointer: '/content', detail: 'There is no content.' }] }
  }
  let draft: Draft = inLang(known(said.content), lang)
  const warnings: DraftWarning[] = []
  let drop = wordlessPointers(draft)
  for (let round = 0; ; round++) {
    const next = drop.length === 0 ? draft : rebuilt(draftSchema, draft, (pointer) => !drop.includes(pointer)).value
    if (!isRecord(next))
      return { faults: [{ code: 'INVALID_FIELD', pointer: '/meta/company_name', detail: 'Nobody is named.' }] }
    draft = next
    const findings = findingsOf(draft, shape)
    if (findings.length === 0) break
    if (
      round === ROUNDS_MAX ||
      findings.some(({ pointer }) => pointer === '' || pointer.startsWith('/meta/company_name'))
    )
      return { faults: findings }
    warnings.push(
      ...findings.map(
        ({ code, pointer, detail }): DraftWarning => ({
          code,
          pointer,
          detail: `${detail} Left out of the draft.`,
          severity: 'medium',
        }),
      ),
    )
    drop = findings.map(({ pointer }) => dropped(draft, pointer))
  }
  const { content, ...rest } = said
  return {
    proposal: {
      draft,
      quotes: quotesOf(rest.quotes),
      shown: shownOf(rest.photos),
      strangers: [
        ...strangersOf(content as Draft),
        ...strangersOf(rest).filter((name) => name !== 'quotes' && name !== 'photos'),
      ],
    },
    warnings,
  }
}

/** The draft in the names of the spec. */
export const draftContent = (draft: Draft): SentContent =>
  withDefaults<SentContent>(contentSchema, toPatch({ spec: contentSchema }, draft))

/** A part that is required and missing is wrong where it should stand: the whole of it goes. */
const findingsOf = (draft: Draft, shape: (value: unknown) => Fault[]): Fault[] => {
  if (Buffer.byteLength(JSON.stringify(draft), 'utf8') > CONTENT_MAX_BYTES) {
    return [{ code: 'INVALID_FIELD', pointer: '', detail: `It has more than ${CONTENT_MAX_BYTES} bytes: be shorter.` }]
  }
  const wrong = shape(draft)
  if (wrong.length > 0) return wrong
  return contentFaults(draftContent(draft)).map((one) => ({ ...one, pointer: restPointer(one.pointer) }))
}
