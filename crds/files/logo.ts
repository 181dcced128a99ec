/**
 * What may be a logo, by the container alone: nothing is decoded here. A file that is a picture and something else besides,
 * that moves, or that claims to be huge is refused before anything is stored; what passes is transcoded all the same.
 * Source: rules/invoice.md#logos; PNG 3rd edition section 5, ITU T.81 annex B, RFC 9649 section 2; OWASP File Upload.
 */
import { type ImageSource, imageSourceOf } from './imagesource.ts'

export const LOGO_BYTES_MAX = 2_000_000
export const LOGO_PIXELS_MAX = 16_000_000
export const LOGO_SIDE_MAX = 8_000
/** More parts than any picture has. */
const PARTS_MAX = 20_000

type Size = { width: number; height: number }
/** A piece of a container, by the name that its format gives it. */
type Part = { name: string; data: Buffer }
/** The pieces, and where the picture ends; null when they cannot be told apart. */
type Split = { parts: Part[]; end: number } | null
/** What a format calls its pieces. */
type Format = {
  split(bytes: Buffer): Split
  /** Null for a piece that says nothing of the size. */
  size(part: Part): Size | null
  moves(part: Part): boolean
  /** Pixels and their tables. All else are words about the picture. */
  isPixels(part: Part): boolean
}

const BROKEN = 'is cut off, or not what it says it is'
const MORE = 'has something else behind the picture'
const HIDDEN = 'hides something else in its metadata'
const MOVES = 'moves; send a single picture'

/** How other kinds of file begin, which readers of those kinds look for further in, too. */
const FOREIGN = ['%pdf-', 'pk\x03\x04', '<!doctype', '<html', '<script', '<svg', '<?php', '<?=', '#!/']

const hidesSomething = ({ data }: Part): boolean => {
  const text = data.toString('latin1').toLowerCase()
  return FOREIGN.some((mark) => text.includes(mark))
}

/** Length, type, data, checksum; the last one is IEND. */
const splitPng = (bytes: Buffer): Split => {
  const parts: Part[] = []
  let at = 8
  while (at + 12 <= bytes.length && parts.length < PARTS_MAX) {
    const end = at + 12 + bytes.readUInt32BE(at)
    const name = bytes.toString('latin1', at + 4, at + 8)
    if (end > bytes.length || (parts.length === 0) !== (name === 'IHDR')) return null
    parts.push({ name, data: bytes.subarray(at + 8, end - 4) })
    if (name === 'IEND') return { parts, end }
    at = end
  }
  return null
}

const PNG: Format = {
  split: splitPng,
  size: ({ name, data }) =>
    name === 'IHDR' && data.length === 13 ? { width: data.readUInt32BE(0), height: data.readUInt32BE(4) } : null,
  moves: ({ name }) => name === 'acTL',
  isPixels: ({ name }) => name === 'IDAT' || name === 'PLTE',
}

const EOI = 0xd9
const SOS = 0xda
/** Markers that stand alone: TEM and the restarts. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)

/** Where the byte of the next marker stands, behind any number of 0xff; -1 when there is none. */
const markerAt = (bytes: Buffer, from: number): number => {
  let at = from
  while (bytes[at] === 0xff) at++
  return at > from && at < bytes.length ? at : -1
}

/** Behind entropy-coded data, in which 0xff is followed by 0 or a restart. */
const afterScan = (bytes: Buffer, from: number): number => {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && !isAlone(next)) return at
  }
  return bytes.length
}

/** Behind the segment whose marker stands there; beyond the last byte when it is cut off. */
const segmentEnd = (bytes: Buffer, at: number): number => {
  const length = at + 3 <= bytes.length ? bytes.readUInt16BE(at + 1) : 0
  return length < 2 ? bytes.length + 1 : at + 1 + length
}

/** Pieces are named by their markers in hex. */
const splitJpeg = (bytes: Buffer): Split => {
  const parts: Part[] = []
  let at = markerAt(bytes, 2)
  while (at > 0 && parts.length < PARTS_MAX) {
    const marker = bytes[at] ?? 0
    if (marker === EOI) return { parts, end: at + 1 }
    const end = isAlone(marker) ? at + 1 : segmentEnd(bytes, at)
    if (end > bytes.length) return null
    parts.push({ name: marker.toString(16), data: bytes.subarray(Math.min(at + 3, end), end) })
    at = markerAt(bytes, marker === SOS ? afterScan(bytes, end) : end)
  }
  return null
}

const JPEG: Format = {
  split: splitJpeg,
  // start of frame, baseline to arithmetic, without DHT, JPG and DAC, which lie between
  size: ({ name, data }) =>
    /^c[0-35-79-bd-f]$/.test(name) && data.length >= 6
      ? { width: data.readUInt16BE(3), height: data.readUInt16BE(1) }
      : null,
  moves: () => false,
  // APPn and COM are words
  isPixels: ({ name }) => !/^(e[0-9a-f]|fe)$/.test(name),
}

/** RIFF: the whole says how long it is, then type, length and data, padded to an even length. */
const splitWebp = (bytes: Buffer): Split => {
  const end = bytes.length < 20 ? 0 : 8 + bytes.readUInt32LE(4)
  const parts: Part[] = []
  let at = 12
  while (at + 8 <= end && end <= bytes.length && parts.length < PARTS_MAX) {
    const length = bytes.readUInt32LE(at + 4)
    parts.push({ name: bytes.toString('latin1', at, at + 4), data: bytes.subarray(at + 8, at + 8 + length) })
    at += 8 + length + (length % 2)
  }
  return at === end ? { parts, end } : null
}

const WEBP_ANIMATION_FLAG = 0x02
const WEBP_SIZES: Readonly<Record<string, (data: Buffer) => Size>> = {
  VP8X: (data) => ({ width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }),
  'VP8 ': (data) => ({ width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }),
  VP8L: (data) => ({
    width: (data.readUInt32LE(1) & 0x3fff) + 1,
    height: ((data.readUInt32LE(1) >>> 14) & 0x3fff) + 1,
  }),
}
const WEBP_HEAD_BYTES = 10

const WEBP: Format = {
  split: splitWebp,
  size: ({ name, data }) => (data.length >= WEBP_HEAD_BYTES ? (WEBP_SIZES[name]?.(data) ?? null) : null),
  moves: ({ name, data }) =>
    name === 'ANIM' || name === 'ANMF' || (name === 'VP8X' && ((data[0] ?? 0) & WEBP_ANIMATION_FLAG) !== 0),
  isPixels: ({ name }) => name === 'VP8 ' || name === 'VP8L' || name === 'ALPH',
}

const FORMATS: Readonly<Record<ImageSource, Format | null>> = { png: PNG, jpeg: JPEG, webp: WEBP, avif: null }

/** Why pixels of this number are not taken; null when they are. */
export const logoSizeFault = ({ width, height }: Size): string | null => {
  if (width < 1 || height < 1) return BROKEN
  if (width <= LOGO_SIDE_MAX && height <= LOGO_SIDE_MAX && width * height <= LOGO_PIXELS_MAX) return null
  return `is ${width} × ${height} pixels; at most ${LOGO_PIXELS_MAX} are taken, ${LOGO_SIDE_MAX} on a side`
}

/** A picture may say its size twice; the larger one is what a reader might believe. */
const largest = (sizes: readonly Size[]): Size => ({
  width: Math.max(0, ...sizes.map(({ width }) => width)),
  height: Math.max(0, ...sizes.map(({ height }) => height)),
})

/** Why these bytes are no logo, as the end of a sentence; null when they may be decoded. */
export const logoFault = (bytes: Buffer): string | null => {
  if (bytes.length === 0) return 'is empty; send the bytes of the picture as the body'
  if (bytes.length > LOGO_BYTES_MAX) return `is ${bytes.length} bytes long; at most ${LOGO_BYTES_MAX} are taken`
  const source = imageSourceOf(bytes)
  const format = source && FORMATS[source]
  if (!format) return 'is not a PNG, JPEG or WebP picture'
  const split = format.split(bytes)
  if (split === null) return BROKEN
  if (split.parts.some(format.moves)) return MOVES
  if (split.end < bytes.length) return MORE
  if (split.parts.some((part) => !format.isPixels(part) && hidesSomething(part))) return HIDDEN
  return logoSizeFault(largest(split.parts.flatMap((part) => format.size(part) ?? [])))
}
