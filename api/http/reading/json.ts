/** The JSON value of a body. What it costs is seen in its bytes, before anything is built of them. */
import { Problem } from '../problem.ts'

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i

export const isJsonType = (contentType: string): boolean => JSON_TYPE.test(contentType)

/** Deeper nesting is an attack on parsers, not an invoice. */
export const DEPTH_MAX = 32
/** Elements and members together. Seven million numbers in 15 MB hold the event loop for 20 s once they are values. */
export const VALUES_MAX = 100_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** Where the string that begins at `at` ends; behind the last byte where it does not. Runs of backslashes are looked at once. */
const endOfString = (bytes: Buffer, at: number): number => {
  for (let end = bytes.indexOf(QUOTE, at + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let from = end
    while (bytes[from - 1] === BACKSLASH) from--
    if ((end - from) % 2 === 0) return end
  }
  return bytes.length
}

/** Counts brackets and commas outside strings, in one pass. @throws Problem BODY_TOO_LARGE, MALFORMED_JSON */
const refuseCostly = (bytes: Buffer): void => {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === COMMA) values++
    else if (OPENING.has(byte)) {
      depth++
      values++
    } else if (CLOSING.has(byte)) depth--
    if (depth > DEPTH_MAX)
      throw new Problem('MALFORMED_JSON', `The body is nested deeper than ${DEPTH_MAX} levels, at byte ${at}.`)
    if (values > VALUES_MAX)
      throw new Problem(
        'BODY_TOO_LARGE',
        `The body holds more than ${VALUES_MAX} values, the last of them at byte ${at}.`,
      )
  }
}

/** The JSON value of a body. An absent body is `{}`. @throws Problem UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, BODY_TOO_LARGE */
export const jsonOf = (bytes: Buffer, contentType: string | undefined): unknown => {
  if (bytes.length === 0) return {}
  if (!JSON_TYPE.test(contentType ?? '')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'This route takes application/json.')
  }
  refuseCostly(bytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Problem('MALFORMED_JSON', 'The body is not one JSON value in UTF-8.')
  }
}
