/** The JSON value of a body. What it costs is seen in its bytes, before anything is built of them. */
import { setImmediate as turn } from 'node:timers/promises'
import { Problem } from '../problem.ts'

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

export const QUOTE = 0x22
const BACKSLASH = 0x5c
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

/** Where the string that begins at `at` ends; behind the last byte where it does not. Runs of backslashes are looked at once. */
export const endOfString = (bytes: Buffer, at: number): number => {
  for (let end = bytes.indexOf(QUOTE, at + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let from = end
    while (bytes[from - 1] === BACKSLASH) from--
    if ((end - from) % 2 === 0) return end
  }
  return bytes.length
}

const tooMany = (what: string, most: number, at: number): Problem =>
  new Problem('BODY_TOO_LARGE', `The body holds more than ${most} ${what}, the last of them at byte ${at}.`)

/** A string is a name where a colon follows it. White space is all that may stand between. */
export const isName = (bytes: Buffer, end: number): boolean => {
  let at = end + 1
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++
  return bytes[at] === COLON
}

type Counted = { depth: number; values: number; names: Set<string> }

/** @throws Problem BODY_TOO_LARGE, MALFORMED_JSON */
const refuseBeyond = ({ depth, values, names }: Counted, at: number): void => {
  if (depth > DEPTH_MAX)
    throw new Problem('MALFORMED_JSON', `The body is nested deeper than ${DEPTH_MAX} levels, at byte ${at}.`)
  if (values > VALUES_MAX) throw tooMany('values', VALUES_MAX, at)
  if (names.size > NAMES_MAX) throw tooMany('different names', NAMES_MAX, at)
}

/**
 * Counts brackets, commas and names outside strings.
 * @returns where to go on: behind `to`, or behind the string that reaches over it
 * @throws Problem BODY_TOO_LARGE, MALFORMED_JSON
 */
const count = (bytes: Buffer, from: number, to: number, counted: Counted): number => {
  let at = from
  for (; at < to; at++) {
    const meaning = meaningOf[bytes[at] as number]
    if (meaning === PLAIN) continue
    if (meaning === TEXT) {
      const end = endOfString(bytes, at)
      if (isName(bytes, end)) counted.names.add(bytes.toString('latin1', at, end))
      at = end
    } else if (meaning === NEXT) counted.values++
    else if (meaning === CLOSES) counted.depth--
    else {
      counted.depth++
      counted.values++
    }
    refuseBeyond(counted, at)
  }
  return at
}

/** Others are served after each so many bytes. */
const SLICE_BYTES = 100_000

/** @throws Problem BODY_TOO_LARGE, MALFORMED_JSON */
export const refuseCostly = async (bytes: Buffer): Promise<void> => {
  const counted: Counted = { depth: 0, values: 1, names: new Set() }
  for (let at = 0; at < bytes.length; ) {
    at = count(bytes, at, Math.min(at + SLICE_BYTES, bytes.length), counted)
    if (bytes.length > SLICE_BYTES) await turn()
  }
}

/** The JSON value of a body. An absent body is `{}`. @throws Problem UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, BODY_TOO_LARGE */
export const jsonOf = async (bytes: Buffer, contentType: string | undefined): Promise<unknown> => {
  if (bytes.length === 0) return {}
  if (!JSON_TYPE.test(contentType ?? '')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'This route takes application/json.')
  }
  await refuseCostly(bytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Problem('MALFORMED_JSON', 'The body is not one JSON value in UTF-8.')
  }
}
