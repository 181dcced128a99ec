/** A content in each of its languages. Source: decision `hack/decisions/060`. */
import type { Content, SiteLang } from './content.ts'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMade = (value: unknown): boolean => isRecord(value) || (Array.isArray(value) && value.some(isRecord))

/**
 * Objects field by field; lists of objects item by item, never longer than the first; words are replaced or added. Where the
 * first language has no object there is none: a translation of it would lack what makes it whole.
 */
const laidOver = (below: unknown, above: unknown): unknown => {
  if (above === undefined || (isMade(above) && !isMade(below))) return below
  if (Array.isArray(below) && Array.isArray(above) && below.some(isRecord)) {
    return below.map((item, index) => laidOver(item, above[index]))
  }
  if (!isRecord(below) || !isRecord(above)) return above
  const pairs = Object.entries(above).map(([key, value]) => [key, laidOver(below[key], value)])
  return { ...below, ...Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) }
}

/** The folder of the pages in a further language. */
export const langFolder = (lang: SiteLang): string => lang.toLowerCase()

/** The languages of a site, its first one first. */
export const langsOf = ({ meta, translations = [] }: Content): SiteLang[] => [
  meta.lang,
  ...translations.map(({ lang }) => lang),
]

/** The content in one of its languages, as if that were its only one; sections that the first does not have are left out. */
export const contentIn = (value: Content, wanted: SiteLang): Content => {
  const { translations, ...first } = value
  const found = translations?.find(({ lang }) => lang === wanted)
  if (found === undefined) return first
  const { lang, companyName, description, pages, ...parts } = found
  const known = Object.entries(parts).filter(([key]) => key === 'labels' || Reflect.has(first, key))
  const meta = laidOver(first.meta, {
    lang,
    ...(companyName !== undefined && { companyName }),
    ...(description !== undefined && { description }),
    ...(pages !== undefined && first.meta.pages !== undefined && { pages }),
  })
  // labels of the first language are no words of this one
  const { labels: _labels, ...below } = first
  const { labels, ...words } = Object.fromEntries(known) as Partial<Content>
  const laid = laidOver(below, words) as Content
  return { ...laid, ...(labels && { labels }), meta: meta as Content['meta'] }
}
