/** The language that a visitor likes, of those that pages for strangers are written in. */
export type PageLang = 'en' | 'es' | 'zh-Hant' | 'zh-Hans'

/** What browsers call them; the first that fits counts. Of Chinese without a script the region tells it (CLDR likely subtags). */
const ACCEPTED: readonly (readonly [tag: RegExp, lang: PageLang])[] = [
  [/^zh(-hant\b|-(tw|hk|mo)$)/i, 'zh-Hant'],
  [/^zh\b/i, 'zh-Hans'],
  [/^es\b/i, 'es'],
  [/^en\b/i, 'en'],
]
const TAGS_MAX = 20

/** The language of ours that somebody likes best, by an Accept-Language header (RFC 9110 section 12.5.4); English without one. */
export const acceptedLang = (header: string): PageLang => {
  const liked = header
    .split(',', TAGS_MAX)
    .map((part) => {
      const [tag = '', ...words] = part.split(';').map((word) => word.trim())
      const weight = words.find((word) => /^q=/i.test(word))?.slice(2)
      return {
        lang: ACCEPTED.find(([pattern]) => pattern.test(tag))?.[1],
        weight: weight === undefined ? 1 : Number(weight),
      }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  return liked.find(({ lang }) => lang !== undefined)?.lang ?? 'en'
}
