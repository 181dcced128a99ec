/** Pictures of strangers: what is refused, and that nothing of the original gets out. */
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { IMAGE_BYTES_MAX, renderImage } from '../../../controllers/io/pictures/images.ts'
import { imageSourceOf } from '../../../crds/files/imagesource.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const noise = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 120, b: 40, alpha: channels === 4 ? 0.4 : 1 } } })

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** A PNG of few bytes that says it is this large. */
const bomb = (width: number, height: number): Buffer => {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  const rows = deflateSync(Buffer.alloc(Math.min(height * (width + 1), 4_000_000)))
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([magic, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

const jpeg = await noise(1200, 800).jpeg().toBuffer()
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const moving = await sharp([await noise(20, 20).png().toBuffer(), await noise(20, 20).negate().png().toBuffer()], {
  join: { animated: true },
})
  .webp()
  .toBuffer()

const refused: [string, Uint8Array, RegExp][] = [
  ['an SVG', Buffer.from(svg), /is not a JPEG, PNG, WebP or AVIF/],
  ['an SVG behind a byte order mark', Buffer.from(`\ufeff${svg}`), /is not a JPEG/],
  ['a GIF', gif, /is not a JPEG/],
  ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), /is not a JPEG/],
  ['a PDF', Buffer.from('%PDF-1.7\n'), /is not a JPEG/],
  ['a ZIP', Buffer.from('PK\x03\x04'), /is not a JPEG/],
  ['a TIFF', await noise(9, 9).tiff().toBuffer(), /is not a JPEG/],
  ['nothing', Buffer.alloc(0), /is not a JPEG/],
  ['the mark of a JPEG and no more', jpeg.subarray(0, 3), /cannot be read as JPEG/],
  ['a JPEG that was cut', jpeg.subarray(0, jpeg.length >> 1), /cannot be read as JPEG/],
  [
    'the mark of a PNG before a page',
    Buffer.concat([bomb(1, 1).subarray(0, 8), Buffer.from(svg)]),
    /cannot be read as PNG/,
  ],
  ['a WebP that is none', Buffer.from('RIFF\x00\x00\x00\x00WEBPjunk'), /cannot be read as WEBP/],
  ['an AVIF that is none', Buffer.from('\x00\x00\x00\x1cftypavif'), /cannot be read as AVIF/],
  ['pictures that move', moving, /moves/],
  ['a bomb of 60,000 × 60,000 pixels', bomb(60_000, 60_000), /pixel|60000/],
  ['a bomb of 1 × 20,000 pixels', bomb(1, 20_000), /is 1 × 20000 pixels/],
  ['more bytes than are taken', Buffer.alloc(IMAGE_BYTES_MAX + 1, jpeg), /at most 10000000/],
]

spec('pictures of strangers', (t) => {
  for (const [what, bytes, reason] of refused) {
    t(`${what} is refused: ${reason.source}`, async () => {
      const verdict = await renderImage(bytes)
      assert.not.ok(verdict.ok)
      if (!verdict.ok) assert.match(verdict.reason, reason)
    })
  }

  t('a JPEG comes back in three formats at every width it has, with its size and colour', async () => {
    const verdict = await renderImage(jpeg)
    if (!verdict.ok) return assert.unreachable(verdict.reason)
    const { image, blobs } = verdict
    assert.equal([image.width, image.height], [1200, 800])
    assert.equal(
      image.variants.map(({ format, width, height }) => `${format} ${width} ${height}`),
      ['avif', 'webp', 'jpeg'].flatMap((format) =>
        [320, 640, 960, 1200].map((width) => `${format} ${width} ${Math.round((width * 2) / 3)}`),
      ),
    )
    assert.match(image.dominant, /^#[0-9a-f]{6}$/)
    for (const [index, { bytes, sha256 }] of blobs.entries()) {
      assert.is(createHash('sha256').update(bytes).digest('hex'), sha256)
      assert.is(image.variants[index]?.sha256, sha256)
      assert.is(imageSourceOf(bytes), image.variants[index]?.format)
    }
  })
  t('five widths at most, the largest 2048', async () => {
    const verdict = await renderImage(await noise(3000, 300).jpeg().toBuffer())
    assert.equal(
      verdict.ok && verdict.image.variants.filter(({ format }) => format === 'webp').map(({ width }) => width),
      [320, 640, 960, 1440, 2048],
    )
  })
  t('a small picture is not made larger', async () => {
    const verdict = await renderImage(await noise(200, 100).png().toBuffer())
    assert.equal(verdict.ok && verdict.image.variants.map(({ format, width }) => `${format} ${width}`), [
      'avif 200',
      'webp 200',
      'jpeg 200',
    ])
  })
  t('what is transparent keeps a PNG instead of a JPEG, an opaque PNG does not', async () => {
    const clear = await renderImage(await noise(40, 40, 4).png().toBuffer())
    assert.equal(clear.ok && clear.image.variants.map(({ format }) => format), ['avif', 'webp', 'png'])
    const opaque = await renderImage(await noise(40, 40).ensureAlpha(1).png().toBuffer())
    assert.equal(opaque.ok && opaque.image.variants.map(({ format }) => format), ['avif', 'webp', 'jpeg'])
  })
  t('a picture lying on its side stands up, and its place and camera stay behind', async () => {
    const lying = await noise(60, 30)
      .withExif({ IFD0: { Copyright: 'CANARY' }, IFD3: { GPSLatitude: '52/1 0/1 0/1' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const verdict = await renderImage(lying)
    if (!verdict.ok) return assert.unreachable(verdict.reason)
    assert.equal([verdict.image.width, verdict.image.height], [30, 60])
    for (const { bytes } of verdict.blobs) {
      const { exif, icc, xmp, iptc } = await sharp(bytes).metadata()
      assert.equal([exif, icc, xmp, iptc], [undefined, undefined, undefined, undefined])
    }
  })
  t('a page hidden behind a picture does not get out', async () => {
    const polyglot = Buffer.concat([jpeg, Buffer.from('<script>CANARY()</script>')])
    const verdict = await renderImage(polyglot)
    assert.ok(verdict.ok)
    if (verdict.ok) for (const { bytes } of verdict.blobs) assert.not.ok(Buffer.from(bytes).includes('CANARY'))
  })
  t('the same bytes give the same bytes', async () => {
    const [first, second] = [await renderImage(jpeg), await renderImage(jpeg)]
    assert.equal(first.ok && first.image, second.ok && second.image)
  })
})
