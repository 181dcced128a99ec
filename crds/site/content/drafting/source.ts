/**
 * What a draft is made from, as text in which quotes are looked up. A quote stands in a source when it is there word for word,
 * whatever its case, its white space and the shape of its quotation marks and dashes. Every search is linear, whatever was written
 * there. Source: rules/site.md#provenance; Knuth, Morris, Pratt 1977.
 */

export const SOURCE_KINDS = ['brief', 'pdf', 'text', 'photo'] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

/** One file, or the brief. `parts` are its pages; a photo has none, for nothing can be looked up in it. */
export type DraftSource = { name: string; kind: SourceKind; parts: readonly string[] }

/** A place in a source. `page` counts from 1 and is null where there are none; `start` and `end` count UTF-16 units of that page. */
export type SourceSpan = { source: string; page: number | null; start: number; end: number; quote: string }

/** `at`: where in the text each unit of `units` comes from; one more for the end. */
export type Folded = { text: string; units: string; at: readonly number[] }
export type SourcePage = Folded & { source: string; page: number | null }

/** Control characters and halves of characters as spaces, so that places stay and every store takes it. */
export const cleaned = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  text.toWellFormed().replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, ' ')

const MARKS: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '\u00ad': '',
  '\u200b': '',
  '\ufeff': '',
}
const SPACE = /\s/u
/** Written without spaces between words, so that a broken line is none. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3001-\u303f\uff01-\uff65]/u

const foldedOf = (point: string): string => MARKS[point] ?? point.normalize('NFKD').toLowerCase()

/** The text as it is compared. */
export const fold = (text: string): Folded => {
  const units: string[] = []
  const at: number[] = []
  let [place, before, gapAt] = [0, '', -1]
  for (const point of text) {
    if (SPACE.test(point)) {
      if (gapAt < 0) gapAt = place
    } else {
      const isGap = gapAt >= 0 && before !== '' && !(UNSPACED.test(before) && UNSPACED.test(point))
      if (isGap) {
        units.push(' ')
        at.push(gapAt)
      }
      for (const unit of foldedOf(point).split('')) {
        units.push(unit)
        at.push(place)
      }
      before = point
      gapAt = -1
    }
    place += point.length
  }
  return { text, units: units.join(''), at: [...at, place] }
}

export const pagesOf = (sources: readonly DraftSource[]): SourcePage[] =>
  sources.flatMap(({ name, kind, parts }) =>
    parts.map((text, index) => ({ ...fold(text), source: name, page: kind === 'pdf' ? index + 1 : null })),
  )

/** How far back a search goes on after each unit of the pattern. */
const failuresOf = (pattern: string): Int32Array => {
  const failures = new Int32Array(pattern.length)
  for (let at = 1, length = 0; at < pattern.length; at++) {
    while (length > 0 && pattern[at] !== pattern[length]) length = failures[length - 1] ?? 0
    if (pattern[at] === pattern[length]) length++
    failures[at] = length
  }
  return failures
}

const WORD = /[\p{L}\p{N}]/u
/** Whether a word goes on over this border: "art" does not stand in "party". */
const isWithin = (left: string | undefined, right: string | undefined): boolean =>
  left !== undefined &&
  right !== undefined &&
  WORD.test(left) &&
  WORD.test(right) &&
  !UNSPACED.test(left) &&
  !UNSPACED.test(right)

/** Where the pattern stands in the units as whole words; -1 where it does not. Linear in both. */
export const placeOf = (units: string, pattern: string): number => {
  const failures = failuresOf(pattern)
  for (let at = 0, length = 0; at < units.length; at++) {
    while (length > 0 && units[at] !== pattern[length]) length = failures[length - 1] ?? 0
    if (units[at] === pattern[length]) length++
    if (length < pattern.length) continue
    const from = at - length + 1
    if (!isWithin(units[from - 1], units[from]) && !isWithin(units[at], units[at + 1])) return from
    length = failures[length - 1] ?? 0
  }
  return -1
}

const EDGE = /[\s.,;:!?…'"()。，、；：！？「」『』（）-]/u

/** A quote without what stands around its words. */
const patternOf = (quote: string): string => {
  const { units } = fold(quote)
  let [from, to] = [0, units.length]
  while (from < to && EDGE.test(units[from] ?? '')) from++
  while (to > from && EDGE.test(units[to - 1] ?? '')) to--
  return units.slice(from, to)
}

/** The first place of the quote; null where it stands nowhere. */
export const findQuote = (pages: readonly SourcePage[], quote: string): SourceSpan | null => {
  const pattern = patternOf(quote)
  if (pattern === '') return null
  for (const { source, page, text, units, at } of pages) {
    const found = placeOf(units, pattern)
    if (found < 0) continue
    const start = at[found] ?? 0
    const last = at[found + pattern.length - 1] ?? 0
    const end = last + String.fromCodePoint(text.codePointAt(last) ?? 0).length
    return { source, page, start, end, quote: text.slice(start, end) }
  }
  return null
}
