/** A headline takes its size from its length. Source: rules/site.md#type-scale. */
import { SIZES } from '../type/scale.ts'

const HAN = /[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u30ff\uac00-\ud7af]/u
/** Characters up to which a headline stands one, two and three steps under the top. */
const LENGTHS = [24, 52, 84] as const
const LEAST_STEP = 3
/** Of a letter, as a share of its size; the narrowest column of a phone of 360, in pixels. */
const LETTER = 0.56
const COLUMN_PX = 312

/** Characters, a Han character as two. */
export const lengthOf = (text: string): number => [...text].reduce((sum, one) => sum + (HAN.test(one) ? 2 : 1), 0)

/** The longest run that no line break divides; Han breaks anywhere. */
export const longestWord = (text: string): number =>
  Math.max(0, ...text.split(/[\s\-–—/\u2e80-\u9fff\uff00-\uffef\u3000-\u30ff]+/u).map((word) => [...word].length))

/** Where a Chinese headline may break: behind a sign, never inside a phrase that fits its line. */
const PHRASE_ENDS = /[，。、；：！？　\s]+/u

/** Taken as wide as a letter: one that does not fit would begin the next line. */
const SIGN = 1

/** Characters of the longest phrase with its sign; 0 where there is one phrase alone, which breaks where it is balanced. */
const longestPhrase = (text: string): number => {
  const phrases = text.split(PHRASE_ENDS).filter((phrase) => phrase !== '')
  if (phrases.length < 2 || !HAN.test(text)) return 0
  return Math.max(...phrases.map((phrase) => lengthOf(phrase) / 2)) + SIGN
}

/** The narrowest column of a wide window that a headline stands in, in pixels. */
const WIDE_COLUMN_PX = 560

/** `phrases`: it breaks between them, at any width or in wide windows alone. */
export type Headline = { step: number; light: boolean; hyphens: boolean; phrases: 'any' | 'wide' | null }

const phrasesOf = (text: string, step: number): Headline['phrases'] => {
  const longest = longestPhrase(text)
  const [phone, wide] = SIZES[step] ?? [0, 0]
  if (longest === 0 || longest * wide > WIDE_COLUMN_PX) return null
  return longest * phone <= COLUMN_PX ? 'any' : 'wide'
}

/** @param top the layout's largest step */
export const headlineOf = (text: string, top: number): Headline => {
  const length = lengthOf(text)
  const down = LENGTHS.findIndex((most) => length <= most)
  const byLength = Math.max(LEAST_STEP, top - (down < 0 ? LENGTHS.length : down))
  const fits = (step: number) => longestWord(text) * LETTER * (SIZES[step]?.[0] ?? 0) <= COLUMN_PX
  let step = byLength
  while (step > LEAST_STEP && !fits(step)) step -= 1
  return { step, light: down < 0, hyphens: !fits(step), phrases: phrasesOf(text, step) }
}

/** As classes of the heading. */
export const headlineClass = (text: string, top: number): string => {
  const { step, light, hyphens, phrases } = headlineOf(text, top)
  const breaks = phrases === null ? '' : phrases === 'any' ? ' kp' : ' kw'
  return `st${step}${light ? ' light' : ''}${hyphens ? ' hy' : ''}${breaks}`
}
