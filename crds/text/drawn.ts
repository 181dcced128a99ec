/**
 * Which characters a document can show. What its faces have stands in coverage.ts, so that a plan knows before anything is
 * drawn; controllers/io/pdf/lines.ts sets U+FFFD for exactly what is named here. Source: rules/invoice.md#characters.
 */
import { COVERAGE } from './coverage.ts'

/** Shown in place of a character that no face has, or that would be invisible. */
export const REPLACEMENT = '\ufffd'

/** Drawn by the plainest face, and nothing to be cleaned of. */
export const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u00ff]*$/
/** Where one line of a text ends and another begins. */
export const NEWLINE = /\r\n|[\n\r\u2028\u2029]/
/** Carries no ink and no meaning once lines are broken and directions are known. */
const SILENT = /\u00ad|\u200b|[\u200e\u200f\u061c]|\u2060|[\ufe00-\ufe0f]|\ufeff/g
/** Keeps letters apart or together, in scripts that join them; elsewhere it is silent. */
const JOINER = /[\u200c\u200d]/
const ARABIC = /^\p{Script=Arabic}/u
const MARK = /^\p{M}/u
/** Controls, marks that turn the direction of text, lone surrogates, private use. */
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u
const SPACES = /[\t\p{Zs}]/gu

/** Without the joiners that do not stand between two letters of Arabic; marks may lie on the first one. */
const withoutIdleJoiners = (text: string): string => {
  if (!JOINER.test(text)) return text
  const chars = [...text]
  let afterArabic = false
  return chars
    .filter((char, at) => {
      if (JOINER.test(char)) {
        const isKept = afterArabic && ARABIC.test(chars[at + 1] ?? '')
        afterArabic = false
        return isKept
      }
      afterArabic = ARABIC.test(char) || (afterArabic && MARK.test(char))
      return true
    })
    .join('')
}

/** A text as it is drawn, but for what cannot be: composed (NFC), without what is silent, every kind of space a plain one. */
export const cleaned = (text: string): string =>
  withoutIdleJoiners(text.normalize('NFC').replace(SILENT, '')).replace(SPACES, ' ')

/** Whether a character would do something unseen, so that no face is asked for it. */
export const isHidden = (char: string): boolean => HIDDEN.test(char)

const BMP = 0x10000

/** Bits by code point for the first plane, and a set for what is beyond. */
const readCoverage = (): ((codePoint: number) => boolean) => {
  const plane = new Uint8Array(BMP)
  const beyond = new Set<number>()
  const numbers = COVERAGE.split(' ').map((word) => Number.parseInt(word, 36))
  let end = 0
  for (let at = 0; at < numbers.length; at += 2) {
    const from = end + (numbers[at] ?? 0)
    end = from + (numbers[at + 1] ?? 0)
    for (let codePoint = from; codePoint <= end; codePoint++) {
      if (codePoint < BMP) plane[codePoint] = 1
      else beyond.add(codePoint)
    }
  }
  return (codePoint) => (codePoint < BMP ? plane[codePoint] === 1 : beyond.has(codePoint))
}

let covers: ((codePoint: number) => boolean) | undefined

/** The distinct characters of a text for which a document shows U+FFFD, in the order of their coming. */
export const undrawn = (text: string): string[] => {
  if (PLAIN.test(text)) return []
  covers ??= readCoverage()
  const found = new Set<string>()
  for (const line of text.split(NEWLINE)) {
    for (const char of cleaned(line)) {
      if (isHidden(char) || !covers(char.codePointAt(0) ?? 0)) found.add(char)
    }
  }
  return [...found]
}
