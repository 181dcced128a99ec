/** The JSON value of a body. What it costs is seen in its bytes, before anything is built of them. */
import { setImmediate as turn } from 'node:timers/promises'
import { Problem } from '../problem.ts'
import { BACKSLASH, type LongText, parseApart } from './longtexts.ts'

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i

export const isJsonType = (contentType: string): boolean => JSON_TYPE.test(contentType)

/** Deeper nesting is an attack on parsers, not an invoice. */
export const DEPTH_MAX = 32
/**
 * Elements and members together. Seven million numbers in 15 MB hold the event loop for 20 s once they are values, and a hundred thousand
 * short texts a tenth of one. The largest invoice has 2,600, a website of eight pages some thousands.
 */
export const VALUES_MAX = 25_000

/**
 * Different names of members. An engine keeps each name that it meets: a hundred thousand of them hold the event loop twenty times as
 * long as as many numbers do. The whole of a site has some three hundred, and a project names each of its files.
 */
export const NAMES_MAX = 5_000

const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20

/** What a byte outside strings means, by its value: a table, because a body has millions of them. */
const [PLAIN, TEXT, NEXT, OPENS, CLOSES] = [0, 1, 2, 3, 4]
const meaningOf = new Uint8Array(256)
for (const [signs, meaning] of [
  ['"', TEXT],
  [',', NEXT],
  ['[{', OPENS],
  [']}', CLOSES],
] as const)
  for (const sign of signs) meaningOf[sign.charCodeAt(0)] = meaning

const tooMany = (what: string, most: number, at: number): Problem =>
  new Problem('BODY_TOO_LARGE', `The body holds more than ${most} ${what}, the last of them at byte ${at}.`)

/** A string is a name where a colon follows it. White space is all that may stand between. */
const isName = (bytes: Buffer, end: number): boolean => {
  let at = end + 1
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++
  return bytes[at] === COLON
}

/** Longer texts are read by themselves (longtexts.ts). */
const LONG_BYTES = 4_096

/** What was met so far. `text`: where the string begins that is being looked through; -1 outside of one. */
type Counted = { depth: number; values: number; names: Set<string>; text: number; long: LongText[] }

/** @throws Problem BODY_TOO_LARGE, MALFORMED_JSON */
const refuseBeyond = ({ depth, values, names }: Counted, at: number): void => {
  if (depth > DEPTH_MAX)
    throw new Problem('MALFORMED_JSON', `The body is nested deeper than ${DEPTH_MAX} levels, at byte ${at}.`)
  if (values > VALUES_MAX) throw tooMany('values', VALUES_MAX, at)
  if (names.size > NAMES_MAX) throw tooMany('different names', NAMES_MAX, at)
}

/** So many quotes of one string are looked at before others are served: each costs as much as a hundred other bytes. */
const QUOTES_AT_ONCE = 5_000

/**
 * Goes on within a string. Runs of backslashes are looked at once.
 * @returns where to go on: behind the string, where it ended, or within it
 */
const passText = (bytes: Buffer, from: number, counted: Counted): number => {
  let at = from
  for (let quotes = 0; quotes < QUOTES_AT_ONCE; quotes++) {
    const end = bytes.indexOf(QUOTE, at)
    if (end < 0) return bytes.length
    let run = end
    while (run > from && bytes[run - 1] === BACKSLASH) run--
    at = end + 1
    if ((end - run) % 2 === 0) {
      const start = counted.text
      counted.text = -1
      if (isName(bytes, end)) counted.names.add(bytes.toString('latin1', start, end))
      else if (end - start >= LONG_BYTES) counted.long.push({ start, end: at })
      return at
    }
  }
  return at
}

/** One byte outside of texts. */
const note = (meaning: number | undefined, at: number, counted: Counted): void => {
  if (meaning === TEXT) counted.text = at
  else if (meaning === NEXT) counted.values++
  else if (meaning === CLOSES) counted.depth--
  else {
    counted.depth++
    counted.values++
  }
}

/**
 * Counts brackets, commas and names outside strings.
 * @returns where to go on: at `to` or behind it, or within a string that is long
 * @throws Problem BODY_TOO_LARGE, MALFORMED_JSON
 */
const count = (bytes: Buffer, from: number, to: number, counted: Counted): number => {
  for (let at = from; ; at++) {
    if (counted.text >= 0) {
      at = passText(bytes, at, counted)
      refuseBeyond(counted, at)
      if (counted.text >= 0) return at
    }
    while (at < to && meaningOf[bytes[at] as number] === PLAIN) at++
    if (at >= to) return at
    note(meaningOf[bytes[at] as number], at, counted)
    refuseBeyond(counted, at)
  }
}

/** Others are served after each so many bytes. */
const SLICE_BYTES = 100_000

/**
 * Looks through a body before anything is made of it.
 * @returns its long texts that are no names, in their order
 * @throws Problem BODY_TOO_LARGE, MALFORMED_JSON
 */
export const survey = async (bytes: Buffer): Promise<LongText[]> => {
  const counted: Counted = { depth: 0, values: 1, names: new Set(), text: -1, long: [] }
  for (let at = 0; at < bytes.length; ) {
    at = count(bytes, at, Math.min(at + SLICE_BYTES, bytes.length), counted)
    if (bytes.length > SLICE_BYTES) await turn()
  }
  return counted.long
}

/** The JSON value of a body. An absent body is `{}`. @throws Problem UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, BODY_TOO_LARGE */
export const jsonOf = async (bytes: Buffer, contentType: string | undefined): Promise<unknown> => {
  if (bytes.length === 0) return {}
  if (!JSON_TYPE.test(contentType ?? '')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'This route takes application/json.')
  }
  const long = await survey(bytes)
  try {
    if (bytes.length > SLICE_BYTES) return await parseApart(bytes, long)
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Problem('MALFORMED_JSON', 'The body is not one JSON value in UTF-8.')
  }
}
