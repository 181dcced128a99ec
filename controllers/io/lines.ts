/** Turns stored text into lines that a face can show: nothing invisible, nothing lost, nothing wider than its column. */
import { type Face, REPLACEMENT } from './fonts.ts'

const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u00ff]*$/
/** Carries no ink and no meaning once lines are broken here: soft hyphen, zero-width space and joiners, variation selectors. */
const SILENT = /\u00ad|[\u200b-\u200d]|\u2060|[\ufe00-\ufe0f]|\ufeff/g
/** Controls, marks that turn the direction of text, surrogates (a character outside the BMP shows once), private use. */
const HIDDEN = /[\u{10000}-\u{10ffff}]|[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu
const SPACES = /[\t\p{Zs}]/gu

/**
 * The text as this face will show it: composed (NFC), every kind of space as a plain one, and U+FFFD for each character
 * that the face lacks or that would be invisible. Newlines are gone. Every unit of the answer is in the face.
 */
export const shown = (face: Face, text: string): string => {
  if (PLAIN.test(text)) return text
  const clean = text.normalize('NFC').replace(SILENT, '').replace(SPACES, ' ').replace(HIDDEN, REPLACEMENT)
  let answer = ''
  for (const char of clean) answer += face.has(char.charCodeAt(0)) ? char : REPLACEMENT
  return answer
}

const SPACE = 0x20
const HYPHEN = 0x2d
const SLASH = 0x2f

/** Where a line that begins at `from` must end: at the last place to break, or within a word that fits no line. */
const lineEnd = (face: Face, text: string, from: number, room: number): number => {
  let width = 0
  let place = -1
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const advance = face.advanceOf(unit)
    width += advance
    // a space may hang over the edge; a mark of no width stays with its letter
    if (unit === SPACE) place = at + 1
    else if (width > room && advance > 0 && at > from) return place > from ? place : at
    else if (unit === HYPHEN || unit === SLASH) place = at + 1
  }
  return text.length
}

const wrapParagraph = (face: Face, text: string, room: number): string[] => {
  const lines: string[] = []
  let from = 0
  do {
    const end = lineEnd(face, text, from, room)
    lines.push(text.slice(from, end).trimEnd())
    from = end
  } while (from < text.length)
  return lines
}

/** Breaks text at its newlines, then at spaces, hyphens and slashes, then anywhere. `size` and `width` in points. */
export const wrap = (face: Face, size: number, text: string, width: number): string[] =>
  text.split(/\r\n|[\n\r\u2028\u2029]/).flatMap((part) => wrapParagraph(face, shown(face, part), (width * 1000) / size))
