/**
 * Which words of its source each value of a draft rests on; and how that stands once the owner has changed the site. What the service
 * could not find in the source rests on nothing, whatever the model said. Source: rules/site.md#provenance.
 */
import type { DraftWarning } from './proposal.ts'
import type { DraftSource, SourceKind, SourceSpan } from './source.ts'

/** Of a value, or of one sentence of it. `pointer` is into the content, in the names of REST; null rests on nothing. */
export type Provenance = { pointer: string; text: string; rests_on: SourceSpan | null }

export type SourceView = { name: string; kind: SourceKind; pages: number | null; characters: number }

/** What is kept of a draft that became a site. */
export type KeptProvenance = {
  drafted_at: string
  sources: SourceView[]
  values: Provenance[]
  warnings: DraftWarning[]
}

/**
 * - `supported`: the words of the source are named
 * - `unsupported`: the model's own words
 * - `other`: not of the draft: of the owner, or of the preset
 */
export type ValueStanding = 'supported' | 'unsupported' | 'other'
export type StandingProvenance = Provenance & { standing: ValueStanding }

export const sourceView = ({ name, kind, parts }: DraftSource): SourceView => ({
  name,
  kind,
  pages: kind === 'pdf' ? parts.length : null,
  characters: parts.reduce((sum, part) => sum + part.length, 0),
})

/** Values that are no words: what they hold was chosen, not said. */
const SILENT = new Set(['lang', 'layout', 'template', 'image', 'second_image', 'page', 'platform', 'currency', 'slug'])

type Text = { pointer: string; text: string }

const textsOf = (value: unknown, pointer = '', name = ''): Text[] => {
  if (typeof value === 'string') return SILENT.has(name) ? [] : [{ pointer, text: value }]
  if (Array.isArray(value)) return value.flatMap((one, index) => textsOf(one, `${pointer}/${index}`, name))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    pointer === '' && LEFT_OUT.has(key) ? [] : textsOf(one, `${pointer}/${key}`, key),
  )
}
const LEFT_OUT = new Set(['labels', 'translations', 'products_layout', 'services_layout', 'team_layout', 'image_hover'])

/** What stands at a pointer, as texts: a value, or all of a part in its order. */
const valueAt = (content: unknown, pointer: string): unknown => {
  let at = content
  for (const segment of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return undefined
    at = Reflect.get(at, segment)
  }
  return at
}

/** One opening as it is written in a provenance. */
export const openingText = ({
  days,
  opens,
  closes,
}: {
  days: readonly string[]
  opens?: string
  closes?: string
}): string => `${days.join(', ')} ${opens === undefined ? 'closed' : `${opens}–${closes}`}`

const OPENING = /^\/hours\/weekly\/[0-9]+$/

const holdsStill = (content: unknown, { pointer, text }: Provenance): boolean => {
  const value = valueAt(content, pointer)
  if (typeof value === 'string') return value.includes(text.trim())
  if (!OPENING.test(pointer) || typeof value !== 'object' || value === null) return false
  const { days = [], opens, closes } = value as { days?: string[]; opens?: string; closes?: string }
  return openingText({ days, ...(opens !== undefined && { opens }), ...(closes !== undefined && { closes }) }) === text
}

const standingOf = (content: unknown, one: Provenance): ValueStanding => {
  if (!holdsStill(content, one)) return 'other'
  return one.rests_on === null ? 'unsupported' : 'supported'
}

/**
 * How a draft stands in a content: each value of the draft that is there still, and each text that the owner wrote since.
 * @param content in the names of REST
 */
export const provenanceNow = ({ values }: Pick<KeptProvenance, 'values'>, content: unknown): StandingProvenance[] => {
  const kept = values
    .map((one) => ({ ...one, standing: standingOf(content, one) }))
    .filter(({ standing }) => standing !== 'other')
  const drafted = new Map<string, string[]>()
  for (const { pointer, text } of kept) drafted.set(pointer, [...(drafted.get(pointer) ?? []), text.trim()])
  const own = textsOf(content).flatMap(({ pointer, text }): StandingProvenance[] => {
    if (/^\/hours\/weekly\//.test(pointer)) return []
    const rest = (drafted.get(pointer) ?? []).reduce((left, part) => left.replace(part, ''), text).trim()
    return rest === '' ? [] : [{ pointer, text: rest, rests_on: null, standing: 'other' }]
  })
  return [...kept, ...own]
}
