/** Whether two texts are about the same, as far as words tell: a quote in another script may be what was translated. */
import { fold } from './source.ts'

const LATIN = /[\p{Script=Latin}]/u
const HAN = /[\p{Script=Han}]/u
const WORDS = /[\p{L}\p{N}]+/gu
const WORD_MIN = 3
/** Endings change with number and time; what a word begins with does not. */
const STEM = 4

const stemsOf = (text: string): Set<string> =>
  new Set(
    (fold(text).units.replace(/\p{M}/gu, '').match(WORDS) ?? [])
      .filter((word) => word.length >= WORD_MIN || /[0-9]/.test(word))
      .map((word) => word.slice(0, STEM)),
  )

const pairsOf = (text: string): Set<string> => {
  const points = [...text].filter((point) => HAN.test(point))
  return new Set(points.slice(1).map((point, index) => `${points[index]}${point}`))
}

/** Words that stand in any sentence. */
const COMMON = new Set([
  ...[
    'the',
    'and',
    'for',
    'with',
    'from',
    'you',
    'your',
    'our',
    'are',
    'all',
    'that',
    'this',
    'have',
    'has',
    'was',
    'not',
    'will',
    'can',
  ],
  ...[
    'los',
    'las',
    'del',
    'con',
    'por',
    'para',
    'que',
    'una',
    'uno',
    'nues',
    'sus',
    'más',
    'mas',
    'como',
    'este',
    'esta',
    'son',
  ],
])

const share = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  [...one].some((part) => !COMMON.has(part) && other.has(part))

export const isRelated = (text: string, quote: string): boolean => {
  if (HAN.test(text) && HAN.test(quote)) return share(pairsOf(text), pairsOf(quote))
  if (LATIN.test(text) && LATIN.test(quote)) return share(stemsOf(text), stemsOf(quote))
  return true
}
