/**
 * How much of two sites' words is the same. A content is its runs of three words; of all runs, each of 128 orders has a first one, and how
 * often two contents have the same first is how many of their runs they share. Work grows with the words of one site, and with the number
 * of sites by 128 bytes each. Source: Broder 1997 (resemblance), Li and König 2010 (b bits); rules/site.md#duplicates.
 */
import { createHash } from 'node:crypto'
import type { SentContent } from '../content.ts'

/** Of a content, in base64; null for one with too few words to be told from others. */
export type WordsSignature = string
export type OtherSite = { site: string; signature: WordsSignature }
export type Twin = { site: string; percent: number }
export type TwinWarning = { code: 'DUPLICATE_CONTENT'; pointer: string; detail: string }

const ORDERS = 128
const RUN = 3
const WORDS_MIN = 12
/** From here on a search engine, and a visitor, takes one for the other. */
const ALIKE_PERCENT = 80
/** Two signatures agree by chance in one of 256 places. */
const CHANCE = 1 / 256

/** What is not read: addresses, pictures, and what is chosen. A card that differs from another in its link alone is the same card. */
const UNREAD = new Set([
  ...['link', 'url', 'websiteUrl', 'chat', 'booking', 'mapUrl', 'image', 'secondImage', 'focus', 'meta', 'labels'],
  ...['productsLayout', 'servicesLayout', 'teamLayout', 'imageHover', 'translations', 'legal', 'countdown'],
])

const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => (UNREAD.has(name) ? [] : textsOf(one)))
}

/** Han is written without spaces: each character counts as a word. */
const WORD = /\p{Script=Han}|[\p{L}\p{N}]+/gu

const wordsOf = (content: SentContent): string[] =>
  textsOf(content).flatMap((text) => text.normalize('NFKC').toLowerCase().match(WORD) ?? [])

/** Odd numbers and others from one hash, the same for ever: each order multiplies by one and adds the other. */
const NUMBERS = Array.from({ length: ORDERS }, (_, order) => {
  const hash = createHash('sha256').update(`order ${order}`).digest()
  return { times: hash.readUInt32LE(0) | 1, plus: hash.readUInt32LE(4) }
})

/** FNV-1a with a last mixing. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (hash ^ (hash >>> 16)) >>> 0
}

const mixed = (value: number): number => {
  const once = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
  return (twice ^ (twice >>> 15)) >>> 0
}

export const signatureOf = (content: SentContent): WordsSignature | null => {
  const words = wordsOf(content)
  if (words.length < WORDS_MIN) return null
  const runs = new Set(words.slice(RUN - 1).map((_, at) => hashOf(words.slice(at, at + RUN).join(' '))))
  const first = new Uint32Array(ORDERS).fill(0xffffffff)
  for (const run of runs) {
    for (let order = 0; order < ORDERS; order++) {
      const { times = 1, plus = 0 } = NUMBERS[order] ?? {}
      const value = mixed((Math.imul(run, times) + plus) >>> 0)
      if (value < (first[order] ?? 0)) first[order] = value
    }
  }
  return Buffer.from(first.map((value) => value & 0xff)).toString('base64')
}

/** How much is shared, in whole percent. */
export const likeness = (one: WordsSignature, other: WordsSignature): number => {
  if (one === other) return 100
  const [left, right] = [Buffer.from(one, 'base64'), Buffer.from(other, 'base64')]
  const same = left.filter((byte, place) => byte === right[place]).length / ORDERS
  return Math.round((100 * Math.max(0, same - CHANCE)) / (1 - CHANCE))
}

/** The other site that is most alike, if one is too much so; of equals the first by name. */
export const twinOf = (signature: WordsSignature | null, others: readonly OtherSite[]): Twin | null => {
  if (signature === null) return null
  const twins = others
    .map(({ site, signature: other }) => ({ site, percent: likeness(signature, other) }))
    .filter(({ percent }) => percent >= ALIKE_PERCENT)
    .sort((one, other) => other.percent - one.percent || (one.site < other.site ? -1 : 1))
  return twins[0] ?? null
}

export const twinWarnings = (signature: WordsSignature | null, others: readonly OtherSite[]): TwinWarning[] => {
  const twin = twinOf(signature, others)
  if (twin === null) return []
  const words = twin.percent === 100 ? 'the same words' : `${twin.percent} % of its words in common`
  const detail = `has ${words} with ${twin.site}, addresses left aside; search engines show one of two, so say what is different`
  return [{ code: 'DUPLICATE_CONTENT', pointer: '/content', detail }]
}
