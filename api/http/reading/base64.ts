/**
 * Base64 (RFC 4648 section 4) as long as a body may be: whether a text is that is told by how much it decodes to, which takes a
 * tenth of what a pattern does. A pattern holds up the loop for 5 ns a character, which is 80 ms for the largest picture.
 */
const MARK = ';base64,'
/** Before the mark stands the type of a picture. */
const MARK_WITHIN = 64
/** From here on a pattern is spared what it would only count. */
const LONG_CHARS = 100_000
/** What any pattern that takes base64 takes. */
const SAMPLE = 'AAAA'

const padsOf = (text: string): number => {
  if (text.endsWith('==')) return 2
  return text.endsWith('=') ? 1 : 0
}

/** Undoing leaves out what is no digit, so what it gives is shorter then. It takes the two digits of base64url as well. */
const isPlain = (text: string): boolean => {
  const pads = padsOf(text)
  const digits = text.length - pads
  if (digits % 4 === 1 || (pads > 0 && text.length % 4 !== 0)) return false
  if (Buffer.from(text, 'base64').length !== Math.floor((digits * 3) / 4)) return false
  return !text.includes('-') && !text.includes('_')
}

/** With white space anywhere, and with or without its padding. */
export const isBase64 = (text: string): boolean => {
  if (text === '' || isPlain(text)) return text !== ''
  try {
    return atob(text) !== ''
  } catch {
    return false
  }
}

/**
 * @returns a long `data:` URI with a sample in place of its base64, where that is some without white space: a pattern says of both
 *   the same; any other text as it is
 */
export const withSample = (text: string): string => {
  if (text.length < LONG_CHARS) return text
  const at = text.slice(0, MARK_WITHIN).indexOf(MARK)
  if (at < 0) return text
  const tail = text.slice(at + MARK.length)
  return isPlain(tail) ? text.slice(0, at + MARK.length) + SAMPLE : text
}
