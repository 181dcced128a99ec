/**
 * What a reviewer must not overlook between two versions of a site, apart from its words: where its links lead, prices, how one
 * is reached and when one is open, and what only machines read. Pure; each list is bounded, and says what it leaves out.
 */
import { toSnake } from '../../kernel/rest.ts'
import type { Content } from '../content/content.ts'
import type { PageText } from './words.ts'

export const LISTED_MAX = 60
/** Of JSON-LD, of one page. */
const LEAVES_MAX = 2_000

/** A page by its path, as `/about/`, with what stands on it. */
export type ReadPage = { path: string; words: PageText }
/** One value that differs; null where there was none, or is none any more. */
export type ValueChange = { what: string; before: string | null; after: string | null }
/** `isHost`: nothing of the site led to that host before, or nothing does any more. */
export type LinkChange = {
  is: 'new' | 'gone'
  url: string
  host: string
  isHost: boolean
  pages: string[]
  words: string
}
export type Listed<T> = { items: T[]; left: number }
export type SiteChanges = {
  /** Hosts that a browser asks by itself, without a click: there should be none. */
  loads: Listed<LinkChange>
  links: Listed<LinkChange>
  prices: Listed<ValueChange>
  contacts: Listed<ValueChange>
  /** Titles and descriptions of pages, and data for machines. */
  heads: Listed<ValueChange>
}

const listed = <T>(items: readonly T[]): Listed<T> => ({
  items: items.slice(0, LISTED_MAX),
  left: Math.max(0, items.length - LISTED_MAX),
})

/** @returns null for what leads to a page of the site */
export const hostOf = (url: string): string | null => {
  if (/^(mailto|tel|sms):/i.test(url)) return url.slice(0, url.indexOf(':') + 1).toLowerCase()
  if (!/^(?:https?:)?\/\//i.test(url)) return null
  const whole = url.startsWith('//') ? `https:${url}` : url
  return URL.canParse(whole) ? new URL(whole).host : url
}

/** Who is written to counts, not about what: a shop has one such link for each product. */
const withoutLetter = (url: string): string => (/^mailto:/i.test(url) ? (url.split('?', 1)[0] ?? url) : url)

type Use = { host: string; pages: Set<string>; words: string }

const usesOf = (pages: readonly ReadPage[], linksOf: (words: PageText) => { url: string; words: string }[]) => {
  const uses = new Map<string, Use>()
  for (const { path, words } of pages) {
    for (const link of linksOf(words)) {
      const host = hostOf(link.url)
      if (host === null) continue
      const url = withoutLetter(link.url)
      const use = uses.get(url) ?? { host, pages: new Set<string>(), words: link.words }
      use.pages.add(path)
      uses.set(url, use)
    }
  }
  return uses
}

type Uses = ReturnType<typeof usesOf>

const onlyIn = (uses: Uses, others: Uses, is: LinkChange['is']): LinkChange[] => {
  const known = new Set([...others.values()].map(({ host }) => host))
  return [...uses].flatMap(([url, { host, pages, words }]): LinkChange[] =>
    others.has(url) ? [] : [{ is, url, host, isHost: !known.has(host), pages: [...pages], words }],
  )
}

/** What is new first, of that what leads to hosts that are new, and before a first phone number or mail address those of the web. */
const linkChanges = (before: Uses, after: Uses): LinkChange[] => {
  const rank = ({ is, isHost, host }: LinkChange) =>
    (is === 'new' ? 0 : 4) + (isHost ? 0 : 2) + (host.endsWith(':') ? 1 : 0)
  return [...onlyIn(after, before, 'new'), ...onlyIn(before, after, 'gone')].sort((a, b) => rank(a) - rank(b))
}

/** Every value of a tree by its path, in the names of REST. */
const leavesOf = (value: unknown, path: string, found = new Map<string, string>()): Map<string, string> => {
  if (found.size >= LEAVES_MAX || value === undefined || value === null) return found
  if (typeof value !== 'object') return found.set(path, String(value))
  for (const [key, inner] of Object.entries(value)) {
    leavesOf(inner, path === '' ? toSnake(key) : `${path}.${toSnake(key)}`, found)
  }
  return found
}

const valueChanges = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ValueChange[] =>
  [...new Set([...after.keys(), ...before.keys()])].flatMap((what) => {
    const [old, now] = [before.get(what) ?? null, after.get(what) ?? null]
    return old === now ? [] : [{ what, before: old, after: now }]
  })

type Priced = { name?: string | undefined; price?: string | undefined; priceWas?: string | undefined }
type Said = Pick<Content, 'products' | 'services' | 'pricing' | 'contact' | 'hours' | 'legal'>

/** Each language by itself; the first has no name. */
const languagesOf = (content: Content): { lang: string; said: Said }[] => [
  { lang: '', said: content },
  ...(content.translations ?? []).map(({ lang, ...said }) => ({ lang: `${lang}: `, said: said as Said })),
]

const PRICED = ['products', 'services', 'pricing'] as const

/** All that has a price, by its name; of two of one name the second is told apart. */
const pricedOf = (content: Content): [what: string, item: Priced][] => {
  const times = new Map<string, number>()
  return languagesOf(content).flatMap(({ lang, said }) =>
    PRICED.flatMap((section) =>
      ((said[section] ?? []) as Priced[]).map((item, index): [string, Priced] => {
        const name = `${lang}${item.name ?? `${section} ${index + 1}`}`
        const time = (times.get(name) ?? 0) + 1
        times.set(name, time)
        return [time === 1 ? name : `${name} (${time})`, item]
      }),
    ),
  )
}

const pricesOf = (content: Content | null): Map<string, string> => {
  const prices = new Map<string, string>()
  for (const [what, { price, priceWas }] of content === null ? [] : pricedOf(content)) {
    if (price !== undefined) prices.set(what, price)
    if (priceWas !== undefined) prices.set(`${what}, price before`, priceWas)
  }
  return prices
}

const contactsOf = (content: Content | null): Map<string, string> => {
  const found = new Map<string, string>()
  for (const { lang, said } of content === null ? [] : languagesOf(content)) {
    for (const section of ['contact', 'hours', 'legal'] as const) leavesOf(said[section], `${lang}${section}`, found)
  }
  return found
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const headsOf = (pages: readonly ReadPage[]): Map<string, string> => {
  const found = new Map<string, string>()
  for (const { path, words } of pages) {
    found.set(`${path} title`, words.title)
    found.set(`${path} description`, words.description)
    const data = new Map<string, string>()
    for (const [index, text] of words.data.entries()) leavesOf(parsed(text), `${path} data ${index + 1}`, data)
    for (const [what, value] of data) found.set(what, value)
  }
  return found
}

export type Version = { content: Content | null; pages: readonly ReadPage[] }

/** Against nothing at all every value is new. */
export const NO_VERSION: Version = { content: null, pages: [] }

export const changesBetween = (before: Version, after: Version): SiteChanges => {
  const links = (version: Version) => usesOf(version.pages, (words) => words.links)
  const loads = (version: Version) =>
    usesOf(version.pages, ({ loads: urls }) => urls.map((url) => ({ url, words: '' })))
  return {
    loads: listed(linkChanges(loads(before), loads(after))),
    links: listed(linkChanges(links(before), links(after))),
    prices: listed(valueChanges(pricesOf(before.content), pricesOf(after.content))),
    contacts: listed(valueChanges(contactsOf(before.content), contactsOf(after.content))),
    heads: listed(valueChanges(headsOf(before.pages), headsOf(after.pages))),
  }
}
