/**
 * Holds what a model proposed against what it was shown. Nothing that it says about its sources is believed: a quote counts when it stands
 * there, and a fact when the source states it. What could do harm (a price, a phone number, an address, hours, a testimonial) and is not
 * there is taken out; other words stay and are told to rest on nothing. Source: rules/site.md#provenance.
 */
import {
  factsOfSources,
  hasLink,
  hasPhone,
  hasPrice,
  mailOf,
  type SourceFacts,
  strangeFacts,
  strangeFigures,
} from './facts.ts'
import { hasHours, type StatedHours, statedHours } from './hours.ts'
import { type Draft, type DraftWarning, draftSchema, type Quote, type SiteProposal } from './proposal.ts'
import { openingText, type Provenance } from './provenance.ts'
import { placeIn, rebuilt } from './rebuild.ts'
import { isRelated } from './related.ts'
import { sentencesOf } from './sentences.ts'
import { type DraftSource, findQuote, pagesOf, type SourcePage, type SourceSpan } from './source.ts'

export type ProvenDraft = { draft: Draft; warnings: DraftWarning[]; provenance: Provenance[] }

/** `hours` is one opening as a whole; `still` holds no word of a source. */
type Sort = 'text' | 'price' | 'mail' | 'phone' | 'link' | 'hours' | 'still'
const SORTS: Readonly<Record<string, Sort>> = {
  lang: 'still',
  image: 'still',
  platform: 'still',
  price: 'price',
  price_was: 'price',
  email: 'mail',
  phone: 'phone',
  link: 'link',
  url: 'link',
  website_url: 'link',
  chat: 'link',
  booking: 'link',
  map_url: 'link',
}
const OPENING = /^\/hours\/weekly\/[0-9]+$/
/** Words about others, and what the law reads: in the source, or nowhere. */
const STRICT =
  /^\/(testimonials\/[0-9]+\/(quote|name|role)|legal\/.*|team\/[0-9]+\/name|clients\/[0-9]+\/name|badges\/[0-9]+\/label)$/
const VERBATIM = /^\/testimonials\/[0-9]+\/quote$/
/** Words that head others. */
const HEADING = /\/(title|question|label|alt|caption|chips\/[0-9]+)$/

type Leaf = { pointer: string; sort: Sort; text: string; value: unknown }

const leavesOf = (value: unknown, pointer = '', name = ''): Leaf[] => {
  if (OPENING.test(pointer)) return [{ pointer, sort: 'hours', text: openingText(value as Opening), value }]
  if (typeof value === 'string') return [{ pointer, sort: SORTS[name] ?? 'text', text: value, value }]
  if (Array.isArray(value)) return value.flatMap((one, index) => leavesOf(one, `${pointer}/${index}`, name))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => leavesOf(one, `${pointer}/${key}`, key))
}
type Opening = { days: string[]; opens?: string; closes?: string }

type Court = {
  pages: readonly SourcePage[]
  facts: SourceFacts
  hours: StatedHours
  quotes: ReadonlyMap<string, readonly Quote[]>
  onPhotos: boolean
}

const byPointer = (quotes: readonly Quote[]): Map<string, Quote[]> => {
  const found = new Map<string, Quote[]>()
  for (const one of quotes) found.set(one.pointer, [...(found.get(one.pointer) ?? []), one])
  return found
}

const courtOf = (sources: readonly DraftSource[], quotes: readonly Quote[]): Court => {
  const pages = pagesOf(sources)
  return {
    pages,
    facts: factsOfSources(pages.map(({ text }) => text)),
    hours: statedHours(pages.map(({ units }) => units)),
    quotes: byPointer(quotes),
    onPhotos: sources.every(({ kind }) => kind === 'photo'),
  }
}

/** Quotes that the model gave for a part, or for what it stands in. */
const quotesFor = ({ quotes }: Court, pointer: string): string[] => {
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  return [...(quotes.get(pointer) ?? []), ...(quotes.get(parent) ?? [])].map(({ quote }) => quote)
}

/** The text itself where it stands in the source; else what the model named for it, when that stands there and is about the same. */
const restsOn = (
  court: Court,
  { pointer, text, isVerbatim }: { pointer: string; text: string; isVerbatim?: boolean },
) => {
  const own = findQuote(court.pages, text)
  if (own !== null || isVerbatim) return own
  for (const quote of quotesFor(court, pointer)) {
    const span = findQuote(court.pages, quote)
    if (span !== null && isRelated(text, span.quote)) return span
  }
  return null
}

/** Where a fact that the source states stands in it. */
const placeOfFact = (court: Court, pointer: string, ...forms: string[]): SourceSpan | null => {
  for (const form of [...forms, ...quotesFor(court, pointer)]) {
    const span = findQuote(court.pages, form)
    if (span !== null) return span
  }
  return null
}

/** What becomes of a leaf: the parts of it that stay, each with what it rests on; and what is said about it. */
type Judged = {
  leaf: Leaf
  kept: { text: string; span: SourceSpan | null }[]
  warnings: Omit<DraftWarning, 'pointer'>[]
}

const removed = (what: string, text: string, { onPhotos }: Court): Omit<DraftWarning, 'pointer'> => ({
  code: 'UNSUPPORTED_CLAIM',
  severity: 'high',
  detail: onPhotos
    ? `${what} ${JSON.stringify(text.slice(0, 200))} was read from a photo, where nothing can be checked. Left out of the draft; write it yourself if it is right.`
    : `${what} ${JSON.stringify(text.slice(0, 200))} does not stand in the source. Left out of the draft.`,
})

const gone = (leaf: Leaf, what: string, court: Court): Judged => ({
  leaf,
  kept: [],
  warnings: [removed(what, leaf.text, court)],
})

const unsupported = (leaf: Leaf, text: string, { facts, onPhotos }: Court): Omit<DraftWarning, 'pointer'>[] => {
  // one warning says it of all of them
  if (onPhotos) return []
  const figures = strangeFigures(facts, text)
  const shown = JSON.stringify(text.trim().slice(0, 200))
  if (figures.length > 0) {
    const detail = `${figures.join(', ')} stands nowhere in the source: ${shown}. Check it, or take it away.`
    return [{ code: 'UNSUPPORTED_CLAIM', severity: 'high', detail }]
  }
  const severity = HEADING.test(leaf.pointer) ? 'low' : 'medium'
  return [
    { code: 'UNSUPPORTED_CLAIM', severity, detail: `The source does not say ${shown}. Check it, or take it away.` },
  ]
}

const FACT_WORDS = {
  mail: 'The mail address',
  address: 'The web address',
  phone: 'The phone number',
  price: 'The price',
}

const judgeText = (court: Court, leaf: Leaf): Judged => {
  const judged: Judged = { leaf, kept: [], warnings: [] }
  const isStrict = STRICT.test(leaf.pointer)
  for (const text of sentencesOf(leaf.text)) {
    const [strange] = strangeFacts(court.facts, text)
    if (strange !== undefined) {
      judged.warnings.push(removed(`${FACT_WORDS[strange.sort]} in`, text.trim(), court))
      continue
    }
    const found = restsOn(court, { pointer: leaf.pointer, text, isVerbatim: VERBATIM.test(leaf.pointer) })
    const span = found !== null && strangeFigures(court.facts, text).length === 0 ? found : null
    if (span === null && isStrict) {
      judged.warnings.push(removed('What others are told to have said or to be,', text.trim(), court))
      continue
    }
    judged.kept.push({ text, span })
    if (span === null) judged.warnings.push(...unsupported(leaf, text, court))
  }
  return judged
}

const stated = (court: Court, leaf: Leaf, ...forms: string[]): Judged => {
  const span = placeOfFact(court, leaf.pointer, leaf.text, ...forms)
  return { leaf, kept: [{ text: leaf.text, span }], warnings: span === null ? unsupported(leaf, leaf.text, court) : [] }
}

const judge = (court: Court, leaf: Leaf): Judged => {
  const { facts, hours } = court
  const { sort, text } = leaf
  switch (sort) {
    case 'still':
      return { leaf, kept: [], warnings: [] }
    case 'text':
      return judgeText(court, leaf)
    case 'price':
      if (!/[0-9]/.test(text)) return judgeText(court, leaf)
      return hasPrice(facts, text)
        ? stated(court, leaf, ...(/[0-9][0-9.,'’]*/.exec(text) ?? []))
        : gone(leaf, 'The price', court)
    case 'mail':
      return facts.mails.has(mailOf(text) ?? '') ? stated(court, leaf) : gone(leaf, 'The mail address', court)
    case 'phone':
      return hasPhone(facts, text) ? stated(court, leaf) : gone(leaf, 'The phone number', court)
    case 'link': {
      const plain = text.replace(/^(https?:\/\/(www\.)?|mailto:|tel:)/i, '')
      return hasLink(facts, text) ? stated(court, leaf, plain) : gone(leaf, 'The link', court)
    }
    case 'hours':
      return hasHours(hours, leaf.value as Opening)
        ? { ...stated(court, { ...leaf, pointer: `${leaf.pointer}/days` }), leaf }
        : gone(leaf, 'The opening', court)
    default:
      return sort satisfies never
  }
}

const ALT_MAX = 160
const line = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, ALT_MAX)

/** The photos as a gallery: they come as assets of these names. */
const withPhotos = (draft: Draft, { shown }: SiteProposal, photos: number): Draft => {
  if (photos === 0) return draft
  const gallery = Array.from({ length: photos }, (_, index) => {
    const said = shown.find(({ photo }) => photo === index + 1)
    const [alt, caption] = [line(said?.alt ?? ''), line(said?.caption ?? '')]
    return { image: `asset:photo-${index + 1}`, ...(alt !== '' && { alt }), ...(caption !== '' && { caption }) }
  })
  return { ...draft, gallery }
}

/** Texts as they are left: a sentence that went is not in them. */
const edited = (value: unknown, texts: ReadonlyMap<string, string>, pointer = ''): unknown => {
  const text = texts.get(pointer)
  if (text !== undefined) return text
  if (Array.isArray(value)) return value.map((one, index) => edited(one, texts, `${pointer}/${index}`))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, edited(one, texts, `${pointer}/${key}`)]))
}

const strangerWarnings = ({ strangers }: SiteProposal): DraftWarning[] =>
  strangers.map((name) => ({
    code: 'UNKNOWN_FIELD',
    pointer: `/${name}`,
    detail: `The model answered ${name}, which no draft has. Left out of the draft.`,
    severity: 'low',
  }))

/** Null when what is left is no content: not even the name of who speaks. */
export const proveDraft = (proposal: SiteProposal, sources: readonly DraftSource[]): ProvenDraft | null => {
  const court = courtOf(sources, proposal.quotes)
  const photos = sources.filter(({ kind }) => kind === 'photo').length
  const whole = withPhotos(proposal.draft, proposal, photos)
  const judged = leavesOf(whole).map((leaf) => judge(court, leaf))
  const doomed = new Set(
    judged.filter(({ leaf, kept }) => leaf.sort !== 'still' && kept.length === 0).map(({ leaf }) => leaf.pointer),
  )
  const texts = new Map(
    judged.flatMap(({ leaf, kept }): [string, string][] =>
      leaf.sort === 'text' && kept.length > 0
        ? [
            [
              leaf.pointer,
              kept
                .map(({ text }) => text)
                .join('')
                .trim(),
            ],
          ]
        : [],
    ),
  )
  const { value, moved } = rebuilt(draftSchema, edited(whole, texts), (pointer) => !doomed.has(pointer))
  if (typeof value !== 'object' || value === null) return null
  const provenance = judged.flatMap(({ leaf, kept }): Provenance[] => {
    const pointer = moved.get(leaf.pointer)
    if (pointer === undefined) return []
    return kept.map(({ text, span }) => ({ pointer, text: text.trim(), rests_on: span }))
  })
  const onPhotos: DraftWarning = {
    code: 'UNSUPPORTED_CLAIM',
    pointer: '',
    detail: 'All of it was read from photos, where nothing can be checked. Read it before it is used.',
    severity: 'medium',
  }
  return {
    draft: value as Draft,
    provenance,
    warnings: [
      ...strangerWarnings(proposal),
      ...(court.onPhotos ? [onPhotos] : []),
      ...judged.flatMap(({ leaf, warnings }) =>
        warnings.map((warning) => ({ ...warning, pointer: placeIn(moved, leaf.pointer) })),
      ),
    ],
  }
}
