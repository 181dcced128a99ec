/** Git's lines that say how long they are (gitprotocol-common, "pkt-line Format"). */

const LENGTH_BYTES = 4
/** Flush, delimiter and the end of an answer: lines without content. */
const MARK_MAX = 2

/** What is not as git writes it, or says that it will not. */
export class GitRefused extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'GitRefused'
  }
}

/** There is more of it than is taken. */
export class GitTooLarge extends GitRefused {}

export const packet = (text: string): Buffer =>
  Buffer.from(`${(Buffer.byteLength(text) + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0')}${text}`)

export const FLUSH = Buffer.from('0000')
export const DELIMITER = Buffer.from('0001')

/** Of a lower-case hexadecimal digit; NaN of anything else. */
const digitOf = (byte = 0): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : Number.NaN
}

const lengthAt = (bytes: Buffer, at: number): number => {
  let length = 0
  for (let place = 0; place < LENGTH_BYTES; place++) length = length * 16 + digitOf(bytes[at + place])
  return length
}

/**
 * Calls `take` with where each packet begins and ends, until it says `enough`. An answer may have millions of them: nothing is
 * made for one.
 * @throws GitRefused
 */
export const eachPacket = (bytes: Buffer, take: (from: number, to: number) => 'enough' | undefined): void => {
  for (let at = 0; at < bytes.length; ) {
    const length = lengthAt(bytes, at)
    if (length <= MARK_MAX) {
      at += LENGTH_BYTES
      continue
    }
    // also where it is no number
    if (!(length >= LENGTH_BYTES && at + length <= bytes.length)) throw new GitRefused('it answers what is not of git')
    if (take(at + LENGTH_BYTES, at + length) === 'enough') return
    at += length
  }
}

/** Longer ones are no line that is looked for. */
const LINE_MAX_BYTES = 1_000

/** A line without its end; cut where it is too long for one. */
export const lineIn = (bytes: Buffer, from: number, to: number): string =>
  bytes.toString('utf8', from, Math.min(to, from + LINE_MAX_BYTES)).replace(/\n$/, '')
