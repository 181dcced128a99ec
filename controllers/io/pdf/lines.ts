/** Turns stored text into lines of glyphs: nothing invisible, nothing lost, nothing wider than its column. */
import { cleaned, isHidden, NEWLINE, PLAIN, REPLACEMENT } from '../../../crds/text/drawn.ts'
import type { Face, Glyph } from './fonts.ts'
import { breaksOf, type Direction, directionOf, inVisualOrder, lettersOf, levelsOf, mirrored } from './scripts.ts'

/** A face for each character: the base face, or the first of its sisters that has it; null when none has. */
export type Chain = { base: Face; faceOf(codePoint: number): Face | null }

/** Letters of one face and direction. `glyphs` are null when each character is drawn by its own glyph. At size 1000. */
export type Piece = { face: Face; text: string; width: number; glyphs: Glyph[] | null }

/** One line as it is drawn, from left to right; `text` in the order in which it is read. At size 1000. */
export type Line = { text: string; width: number; pieces: Piece[] }

const MARKS = /[\p{M}\u200c\u200d]/u

/**
 * The text as it will be shown: composed (NFC), every kind of space as a plain one, and U+FFFD for each character that no
 * face has or that would be invisible. Newlines are gone.
 */
export const shown = (chain: Chain, text: string): string => {
  if (PLAIN.test(text)) return text
  let answer = ''
  for (const char of cleaned(text)) {
    answer += !isHidden(char) && chain.faceOf(char.codePointAt(0) ?? 0) ? char : REPLACEMENT
  }
  return answer
}

/** Whether the base face draws it all, one glyph per UTF-16 unit, from left to right. */
const isSimple = ({ base }: Chain, text: string): boolean => {
  if (PLAIN.test(text)) return true
  for (let at = 0; at < text.length; at++) if (!base.has(text.charCodeAt(at))) return false
  return !MARKS.test(text)
}

// ---- one line

type Run = { face: Face; text: string; level: number }

/** Spaces, marks and punctuation stay in the face of what stands before them. */
const FOLLOWS = /[ \p{M}\p{P}\u200c\u200d]/u

const runsOf = (chain: Chain, text: string, direction: Direction): Run[] => {
  const levels = levelsOf(text, direction)
  const runs: Run[] = []
  let at = 0
  for (const char of text) {
    const last = runs.at(-1)
    const codePoint = char.codePointAt(0) ?? 0
    const stays = last !== undefined && FOLLOWS.test(char) && last.face.has(codePoint)
    const face = (stays ? last?.face : chain.faceOf(codePoint)) ?? chain.base
    const level = levels?.[at] ?? 0
    if (last?.face === face && last.level === level) last.text += char
    else runs.push({ face, text: char, level })
    at += char.length
  }
  return runs
}

const glyphsOf = ({ face, text, level }: Run): Glyph[] | null => {
  const isRight = level % 2 === 1
  if (!isRight && !face.complex && !MARKS.test(text)) return null
  return face.shape(isRight ? mirrored(text) : text, isRight ? 'rtl' : 'ltr')
}

/** A shown text as one line. `direction` is that of its paragraph. */
export const lineOf = (chain: Chain, text: string, direction: Direction = directionOf(text)): Line => {
  if (isSimple(chain, text)) {
    const width = chain.base.widthOf(text)
    return { text, width, pieces: [{ face: chain.base, text, width, glyphs: null }] }
  }
  const pieces = inVisualOrder(runsOf(chain, text, direction)).map((run) => {
    const glyphs = glyphsOf(run)
    const width = glyphs?.reduce((sum, { advance }) => sum + advance, 0) ?? run.face.widthOf(run.text)
    return { face: run.face, text: run.text, width, glyphs }
  })
  return { text, width: pieces.reduce((sum, piece) => sum + piece.width, 0), pieces }
}

/** Width of a stored text on one line, at size 1000. */
export const widthOf = (chain: Chain, text: string): number => {
  const clean = shown(chain, text)
  return isSimple(chain, clean) ? chain.base.widthOf(clean) : lineOf(chain, clean).width
}

// ---- many lines

const SPACE = 0x20
const HYPHEN = 0x2d
const SLASH = 0x2f

/** Where a line that begins at `from` must end: at the last place to break, or within a word that fits no line. */
const lineEnd = (face: Face, text: string, from: number, room: number): number => {
  let width = 0
  let place = -1
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    width += face.advanceOf(unit)
    // a space may hang over the edge
    if (unit === SPACE) place = at + 1
    else if (width > room && at > from) return place > from ? place : at
    else if (unit === HYPHEN || unit === SLASH) place = at + 1
  }
  return text.length
}

const wrapSimple = (chain: Chain, text: string, room: number): Line[] => {
  const lines: Line[] = []
  let from = 0
  do {
    const end = lineEnd(chain.base, text, from, room)
    lines.push(lineOf(chain, text.slice(from, end).trimEnd(), 'ltr'))
    from = end
  } while (from < text.length)
  return lines
}

type Measure = (text: string) => number

/** Widths of parts, each measured once: shaping is nearly all that such a text costs. */
const makeMeasure = (chain: Chain): Measure => {
  const widths = new Map<string, number>()
  return (text) => {
    const known = widths.get(text)
    if (known !== undefined) return known
    const { width } = lineOf(chain, text)
    widths.set(text, width)
    return width
  }
}

/** The parts that stay on one line: what lies between two places to break, or its letters when it fits no line. */
const partsOf = (measure: Measure, text: string, room: number): string[] => {
  let from = 0
  return breaksOf(text).flatMap((to) => {
    const part = text.slice(from, to)
    from = to
    return measure(part.trimEnd()) > room ? lettersOf(part) : [part]
  })
}

const wrapMixed = (chain: Chain, text: string, room: number): Line[] => {
  const direction = directionOf(text)
  const measure = makeMeasure(chain)
  const lines: Line[] = []
  let [line, width] = ['', 0]
  const end = (): void => void lines.push(lineOf(chain, line.trimEnd(), direction))
  for (const part of partsOf(measure, text, room)) {
    if (line !== '' && width + measure(part.trimEnd()) > room) {
      end()
      line = ''
      width = 0
    }
    line += part
    width += measure(part)
  }
  end()
  return lines
}

/**
 * Breaks text at its newlines, then where its script allows (UAX #14), then between any two letters. `size` and `width` in
 * points.
 */
export const wrap = (chain: Chain, size: number, text: string, width: number): Line[] => {
  const room = (width * 1000) / size
  return text.split(NEWLINE).flatMap((part) => {
    const clean = shown(chain, part)
    return isSimple(chain, clean) ? wrapSimple(chain, clean, room) : wrapMixed(chain, clean, room)
  })
}
