/** Pictures that may be a logo, and more than twenty files that must not: with the reason each is refused for. */
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { LOGO_BYTES_MAX } from '../../../crds/files/logo.ts'

const RED = { r: 200, g: 30, b: 40, alpha: 1 }
/** A plain picture. */
export const plain = (width = 64, height = 32, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: RED } })

/** A piece of a PNG. */
export const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** A PNG of few bytes that says it is this large. */
export const bomb = (width: number, height: number): Buffer => {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  const rows = deflateSync(Buffer.alloc(Math.min(height * (width + 1), 4_000_000)))
  return Buffer.concat([PNG_MAGIC, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

/** The PNG with a piece put in behind its head. */
const withChunk = (png: Buffer, type: string, data: string): Buffer =>
  Buffer.concat([png.subarray(0, 33), chunk(type, Buffer.from(data, 'latin1')), png.subarray(33)])

/** The JPEG with a segment put in behind its first two bytes. */
const withSegment = (jpeg: Buffer, marker: number, data: string): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), head, Buffer.from(data, 'latin1'), jpeg.subarray(2)])
}

/** The WebP with a piece put in at its end, and its length made to fit. */
const withRiff = (webp: Buffer, type: string, data: string): Buffer => {
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32LE(data.length, 4)
  const whole = Buffer.concat([webp, head, Buffer.from(data, 'latin1'), Buffer.alloc(data.length % 2)])
  whole.writeUInt32LE(whole.length - 8, 4)
  return whole
}

/** The JPEG saying that it is this large. */
const claiming = (jpeg: Buffer, width: number, height: number): Buffer => {
  const copy = Buffer.from(jpeg)
  const frame = copy.indexOf(Buffer.from([0xff, 0xc0]))
  copy.writeUInt16BE(height, frame + 5)
  copy.writeUInt16BE(width, frame + 7)
  return copy
}

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'
const behind = (picture: Buffer, what: string): Buffer => Buffer.concat([picture, Buffer.from(what, 'latin1')])

export const [png, jpeg, webp] = await Promise.all([
  plain().png().toBuffer(),
  plain().jpeg().toBuffer(),
  plain().webp().toBuffer(),
])
const frames = [await plain(20, 20).png().toBuffer(), await plain(20, 20).negate().png().toBuffer()]
const moving = () => sharp(frames, { join: { animated: true } })
const [movingWebp, gif] = [await moving().webp().toBuffer(), await moving().gif().toBuffer()]

const NO_PICTURE = /is not a PNG, JPEG or WebP picture/
const BROKEN = /is cut off, or not what it says it is/
const MORE = /has something else behind the picture/
const HIDDEN = /hides something else in its metadata/
const MOVES = /moves; send a single picture/

/** Refused by what the container says, before anything is stored or decoded. */
export const UNFIT: readonly (readonly [string, Buffer, RegExp])[] = [
  ['nothing', Buffer.alloc(0), /is empty/],
  ['an SVG', Buffer.from(svg), NO_PICTURE],
  ['an SVG behind a byte order mark', Buffer.from(`\ufeff${svg}`), NO_PICTURE],
  ['an SVG behind an XML head', Buffer.from(`<?xml version="1.0"?>\n${svg}`), NO_PICTURE],
  ['a GIF that moves', gif, NO_PICTURE],
  ['a GIF that is a script', Buffer.from('GIF89a/*'.concat('\0'.repeat(20), '*/=1;alert(1)')), NO_PICTURE],
  ['an AVIF', await plain().avif().toBuffer(), NO_PICTURE],
  ['a TIFF', await plain().tiff().toBuffer(), NO_PICTURE],
  ['a BMP', Buffer.from('BM\x46\0\0\0\0\0\0\0\x36\0\0\0', 'latin1'), NO_PICTURE],
  ['an icon', Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0]), NO_PICTURE],
  ['a PDF', Buffer.from('%PDF-1.7\n'), NO_PICTURE],
  ['a ZIP', Buffer.from('PK\x03\x04'), NO_PICTURE],
  ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), NO_PICTURE],
  ['the mark of a PNG and no more', png.subarray(0, 8), BROKEN],
  ['the mark of a PNG before a page', Buffer.concat([PNG_MAGIC, Buffer.from(svg)]), BROKEN],
  ['a PNG that was cut', png.subarray(0, png.length - 20), BROKEN],
  ['a PNG without a head', Buffer.concat([PNG_MAGIC, png.subarray(33)]), BROKEN],
  ['a PNG with two heads', withChunk(png, 'IHDR', png.toString('latin1', 16, 29)), BROKEN],
  ['a PNG with a page behind it', behind(png, '<html><script>alert(1)</script>'), MORE],
  ['a PNG with a ZIP behind it', behind(png, 'PK\x03\x04'), MORE],
  ['a PNG with a second PNG behind it', Buffer.concat([png, png]), MORE],
  ['a PNG with PHP in a comment', withChunk(png, 'tEXt', 'Comment\0<?php system($_GET[0]);'), HIDDEN],
  ['a PNG with a PDF in a comment', withChunk(png, 'tEXt', 'Comment\0%PDF-1.4'), HIDDEN],
  ['a PNG with a script in a piece of its own', withChunk(png, 'scRt', '<SCRIPT>alert(1)</SCRIPT>'), HIDDEN],
  ['a PNG that moves', withChunk(png, 'acTL', '\0\0\0\x02\0\0\0\0'), MOVES],
  ['a bomb of 60,000 × 60,000 pixels', bomb(60_000, 60_000), /is 60000 × 60000 pixels/],
  ['a bomb of 1 × 20,000 pixels', bomb(1, 20_000), /is 1 × 20000 pixels/],
  ['a bomb of no pixels', bomb(0, 9), BROKEN],
  ['the mark of a JPEG and no more', jpeg.subarray(0, 3), BROKEN],
  ['a JPEG that was cut', jpeg.subarray(0, jpeg.length >> 1), BROKEN],
  ['a JPEG with a page behind it', behind(jpeg, '<script>alert(1)</script>'), MORE],
  ['a JPEG with a ZIP behind it', behind(jpeg, 'PK\x03\x04'), MORE],
  ['a JPEG with a script in a comment', withSegment(jpeg, 0xfe, '*/=1;<script>alert(1)</script>'), HIDDEN],
  ['a JPEG with a drawing in its metadata', withSegment(jpeg, 0xe1, `http://ns.adobe.com/xap/1.0/\0${svg}`), HIDDEN],
  ['a JPEG that says it is 65,000 × 65,000', claiming(jpeg, 65_000, 65_000), /is 65000 × 65000 pixels/],
  ['a WebP that is none', Buffer.from('RIFF\x00\x00\x00\x00WEBPjunk'), BROKEN],
  ['a WebP that was cut', webp.subarray(0, webp.length - 10), BROKEN],
  ['a WebP with a page behind it', behind(webp, '<html>'), MORE],
  ['a WebP with a script in its metadata', withRiff(webp, 'XMP ', '<script>alert(1)</script>'), HIDDEN],
  ['a WebP that moves', movingWebp, MOVES],
  ['more bytes than are taken', Buffer.alloc(LOGO_BYTES_MAX + 1, jpeg), /at most 2000000 are taken/],
]

/** Their containers are sound; only who decodes them sees what is wrong. */
export const UNREADABLE: readonly (readonly [string, Buffer, RegExp])[] = [
  [
    'a PNG whose pixels are noise',
    Buffer.concat([
      png.subarray(0, 33),
      chunk('IDAT', Buffer.from('these are no pixels at all')),
      chunk('IEND', Buffer.alloc(0)),
    ]),
    /cannot be read/,
  ],
  ['a PNG without pixels', Buffer.concat([png.subarray(0, 33), chunk('IEND', Buffer.alloc(0))]), /cannot be read/],
  [
    'a WebP whose pixels are noise',
    withRiff(webp.subarray(0, 12), 'VP8L', '/\x0f\0\0\0noise, noise'),
    /cannot be read/,
  ],
]
