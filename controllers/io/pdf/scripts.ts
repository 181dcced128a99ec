/**
 * What Unicode says of a text before it is set: which way its letters run (UAX #9), where its lines may end (UAX #14, and
 * words for Thai, which writes no spaces), what a reader takes for one letter (UAX #29). The only file that imports bidi-js
 * and linebreak.
 */
import bidiFactory from 'bidi-js'
import LineBreaker from 'linebreak'

/** What we use of bidi-js, whose own types know only pieces that it does not export. */
type Bidi = {
  getEmbeddingLevels(
    text: string,
    base: Direction | 'auto',
  ): { levels: Uint8Array; paragraphs: { start: number; end: number; level: number }[] }
  getMirroredCharacter(char: string): string | null
}
const bidi = (bidiFactory as unknown as () => Bidi)()

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

export type Direction = 'ltr' | 'rtl'

/** The direction of a paragraph: that of its first letter that has one. */
export const directionOf = (text: string): Direction =>
  RIGHT_TO_LEFT.test(text) && bidi.getEmbeddingLevels(text, 'auto').paragraphs[0]?.level === 1 ? 'rtl' : 'ltr'

/** The embedding level of each UTF-16 unit of a line, odd where it runs from right to left; null when all of it is 0. */
export const levelsOf = (text: string, direction: Direction): Uint8Array | null =>
  direction === 'ltr' && !RIGHT_TO_LEFT.test(text) ? null : bidi.getEmbeddingLevels(text, direction).levels

/** Brackets as they look in text from right to left. */
export const mirrored = (text: string): string => {
  let answer = ''
  for (const char of text) answer += bidi.getMirroredCharacter(char) ?? char
  return answer
}

/** Pieces that stand on a line in logical order, put in the order in which they are seen (UAX #9, L2). */
export const inVisualOrder = <T extends { level: number }>(pieces: T[]): T[] => {
  const order = [...pieces]
  const highest = pieces.reduce((level, piece) => Math.max(level, piece.level), 0)
  for (let level = highest; level > 0; level--) {
    for (let from = 0; from < order.length; from++) {
      let to = from
      while (to < order.length && (order[to]?.level ?? 0) >= level) to += 1
      order.splice(from, to - from, ...order.slice(from, to).reverse())
      from = Math.max(from, to)
    }
  }
  return order
}

const THAI = /\p{Script=Thai}+/gu
const thaiWords = new Intl.Segmenter('th', { granularity: 'word' })
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Where lines may end, as indices behind the last unit, ascending; the last one is the end of the text. */
export const breaksOf = (text: string): number[] => {
  const breaker = new LineBreaker(text)
  const places = new Set<number>()
  for (let next = breaker.nextBreak(); next !== null; next = breaker.nextBreak()) places.add(next.position)
  for (const { 0: run, index } of text.matchAll(THAI)) {
    for (const word of thaiWords.segment(run)) if (word.index > 0) places.add(index + word.index)
  }
  return [...places.add(text.length)].sort((a, b) => a - b)
}

/** What a reader takes for one letter: never to be cut. */
export const lettersOf = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment)
