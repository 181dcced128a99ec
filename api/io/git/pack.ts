/**
 * The objects of a pack (gitformat-pack): every one bounded before it is unpacked, every one named by the hash of its content, so
 * that what hangs on a commit is what that commit says.
 */
import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { GitRefused, GitTooLarge } from './packets.ts'

export type GitObject = { sort: 'commit' | 'tree' | 'blob' | 'tag'; content: Buffer }
export type PackLimits = { objectsMax: number; bytesMax: number }

const SORTS: Readonly<Record<number, GitObject['sort']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const OFFSET_DELTA = 6
const NAMED_DELTA = 7
const HEADER_BYTES = 12
const HASH_BYTES = 20
/** The least that the library unpacks at once. */
const CHUNK_BYTES_MIN = 64

const broken = (): never => {
  throw new GitRefused('its pack is broken')
}

export const nameOf = ({ sort, content }: GitObject): string =>
  createHash('sha1').update(`${sort} ${content.length}\0`).update(content).digest('hex')

type Cursor = { bytes: Buffer; at: number }

const next = (cursor: Cursor): number => {
  const byte = cursor.bytes[cursor.at]
  cursor.at += 1
  return byte ?? broken()
}

/** A number in groups of seven bits, the lowest first. */
const grouped = (cursor: Cursor, first: number, shift: number, bits: number): number => {
  let value = first & ((1 << bits) - 1)
  let byte = first
  for (let scale = 2 ** shift; (byte & 0x80) !== 0; scale *= 128) {
    byte = next(cursor)
    value += (byte & 0x7f) * scale
    if (!Number.isSafeInteger(value)) broken()
  }
  return value
}

const offsetBack = (cursor: Cursor): number => {
  let byte = next(cursor)
  let value = byte & 0x7f
  while ((byte & 0x80) !== 0) {
    byte = next(cursor)
    value = (value + 1) * 128 + (byte & 0x7f)
    if (!Number.isSafeInteger(value)) broken()
  }
  return value
}

/** The bytes that a mask says are there, the lowest first. */
const masked = (cursor: Cursor, mask: number, count: number): number => {
  let value = 0
  for (let place = 0; place < count; place++) if ((mask & (1 << place)) !== 0) value += next(cursor) * 2 ** (8 * place)
  return value
}

/** Copies a part of another buffer. @returns how many bytes that were */
const copied = (made: Buffer, at: number, of: Buffer, from: number, length: number): number => {
  if (from + length > of.length || at + length > made.length) return broken()
  return of.copy(made, at, from, from + length)
}

/**
 * One word of a delta: a part of its base, or bytes of its own. A word may stand for one byte, so nothing is made for it.
 * @returns how many bytes it gave
 */
const partOf = (cursor: Cursor, base: Buffer, made: Buffer, at: number): number => {
  const word = next(cursor)
  if ((word & 0x80) !== 0) {
    const from = masked(cursor, word, 4)
    return copied(made, at, base, from, masked(cursor, word >> 4, 3) || 0x10000)
  }
  if (word === 0) return broken()
  const from = cursor.at
  cursor.at += word
  return copied(made, at, cursor.bytes, from, word)
}

/** What a delta makes of its base. @throws GitRefused */
export const applyDelta = (base: Buffer, delta: Buffer, bytesMax: number): Buffer => {
  const cursor: Cursor = { bytes: delta, at: 0 }
  const baseSize = grouped(cursor, next(cursor), 7, 7)
  const size = grouped(cursor, next(cursor), 7, 7)
  if (size > bytesMax) throw new GitTooLarge('its files have more bytes than are taken')
  if (baseSize !== base.length) broken()
  const made = Buffer.alloc(size)
  let at = 0
  while (cursor.at < delta.length) at += partOf(cursor, base, made, at)
  return at === size ? made : broken()
}

type Reading = {
  cursor: Cursor
  limits: PackLimits
  bytes: number
  at: Map<number, GitObject>
  named: Map<string, GitObject>
}

const inflated = (reading: Reading, size: number): Buffer => {
  const { cursor, limits } = reading
  reading.bytes += size
  if (reading.bytes > limits.bytesMax) throw new GitTooLarge(`its files have more than ${limits.bytesMax} bytes`)
  try {
    const { buffer, engine } = inflateSync(cursor.bytes.subarray(cursor.at), {
      info: true,
      maxOutputLength: size + 1,
      // at once, into as much as it is said to be: no chunk is joined to another, and small objects hold no large ones
      chunkSize: Math.max(CHUNK_BYTES_MIN, size + 1),
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
    cursor.at += engine.bytesWritten
    return buffer.length === size ? buffer : broken()
  } catch (error) {
    if (error instanceof GitRefused) throw error
    return broken()
  }
}

const readObject = (reading: Reading): GitObject => {
  const { cursor, at, named } = reading
  const start = cursor.at
  const first = next(cursor)
  const sort = (first >> 4) & 7
  const size = grouped(cursor, first, 4, 4)
  const plain = SORTS[sort]
  if (plain) return { sort: plain, content: inflated(reading, size) }
  let base: GitObject | undefined
  if (sort === OFFSET_DELTA) base = at.get(start - offsetBack(cursor))
  else if (sort === NAMED_DELTA) {
    base = named.get(cursor.bytes.toString('hex', cursor.at, cursor.at + HASH_BYTES))
    cursor.at += HASH_BYTES
  }
  if (!base) return broken()
  const delta = inflated(reading, size)
  const content = applyDelta(base.content, delta, reading.limits.bytesMax - reading.bytes)
  reading.bytes += content.length
  return { sort: base.sort, content }
}

/** @returns the objects by their names @throws GitRefused for what is broken, or more than the limits */
export const readPack = (bytes: Buffer, limits: PackLimits): Map<string, GitObject> => {
  if (bytes.length < HEADER_BYTES + HASH_BYTES || bytes.toString('latin1', 0, 4) !== 'PACK') return broken()
  const end = bytes.length - HASH_BYTES
  const hash = createHash('sha1').update(bytes.subarray(0, end)).digest()
  const count = bytes.readUInt32BE(8)
  if (bytes.readUInt32BE(4) !== 2 || !hash.equals(bytes.subarray(end))) return broken()
  if (count > limits.objectsMax) throw new GitTooLarge(`it has more than ${limits.objectsMax} files and folders`)
  const cursor: Cursor = { bytes: bytes.subarray(0, end), at: HEADER_BYTES }
  const reading: Reading = { cursor, limits, bytes: 0, at: new Map(), named: new Map() }
  for (let n = 0; n < count; n++) {
    const start = cursor.at
    const object = readObject(reading)
    reading.at.set(start, object)
    reading.named.set(nameOf(object), object)
  }
  return reading.named
}
