/** Git's lines that say how long they are (gitprotocol-common, "pkt-line Format"). */

export type Packet = Buffer | 'flush' | 'delimiter' | 'end'

const MARKS: Readonly<Record<string, Packet>> = { '0000': 'flush', '0001': 'delimiter', '0002': 'end' }
const LENGTH_BYTES = 4

/** What is not as git writes it, or says that it will not. */
export class GitRefused extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'GitRefused'
  }
}

export const packet = (text: string): Buffer =>
  Buffer.from(`${(Buffer.byteLength(text) + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0')}${text}`)

export const FLUSH = Buffer.from('0000')
export const DELIMITER = Buffer.from('0001')

/** @throws GitRefused */
export function* packets(bytes: Buffer): Generator<Packet> {
  for (let at = 0; at < bytes.length; ) {
    const written = bytes.toString('latin1', at, at + LENGTH_BYTES)
    const mark = MARKS[written]
    if (mark !== undefined) {
      yield mark
      at += LENGTH_BYTES
      continue
    }
    const length = /^[0-9a-f]{4}$/.test(written) ? Number.parseInt(written, 16) : 0
    if (length < LENGTH_BYTES || at + length > bytes.length) throw new GitRefused('it answers what is not of git')
    yield bytes.subarray(at + LENGTH_BYTES, at + length)
    at += length
  }
}

/** A line without its end. */
export const lineOf = (given: Buffer): string => given.toString('utf8').replace(/\n$/, '')
