/** Logos: what is refused and at which door, and what the documents are given. */
import sharp from 'sharp'
import { LOGO_HEIGHT, LOGO_WIDTH, renderLogo } from '../../../controllers/io/pictures/images.ts'
import { logoFault } from '../../../crds/files/logo.ts'
import { jpeg, plain, png, UNFIT, UNREADABLE, webp } from '../../support/builders/logos.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const rendered = async (bytes: Buffer) => {
  const verdict = await renderLogo(bytes)
  if (!verdict.ok) throw new Error(verdict.reason)
  return { ...verdict, meta: await sharp(verdict.bytes).metadata() }
}

const SOUND: readonly (readonly [string, Buffer])[] = [
  ['a progressive JPEG', await plain().jpeg({ progressive: true }).toBuffer()],
  ['a grey JPEG', await plain().greyscale().jpeg().toBuffer()],
  ['a JPEG for print', await plain().toColourspace('cmyk').jpeg().toBuffer()],
  ['an interlaced PNG', await plain().png({ progressive: true }).toBuffer()],
  ['a PNG with a palette', await plain().png({ palette: true }).toBuffer()],
  ['a PNG of 16 bits', await plain().toColourspace('rgb16').png().toBuffer()],
  ['a WebP without loss', await plain().webp({ lossless: true }).toBuffer()],
  ['a WebP with metadata', await plain().withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>').webp().toBuffer()],
  [
    'a JPEG with Exif',
    await plain()
      .withExif({ IFD0: { Copyright: 'A B' } })
      .jpeg()
      .toBuffer(),
  ],
]

spec('a logo', (t) => {
  t('has more than forty ways to be refused', () => assert.ok(UNFIT.length + UNREADABLE.length > 40))

  for (const [what, bytes, reason] of UNFIT) {
    t(`${what} is refused by its container: ${reason.source}`, async () => {
      assert.match(logoFault(bytes) ?? 'taken', reason)
      const verdict = await renderLogo(bytes)
      assert.match(verdict.ok ? 'taken' : verdict.reason, reason)
    })
  }
  for (const [what, bytes, reason] of UNREADABLE) {
    t(`${what} passes the container and is refused by the decoder: ${reason.source}`, async () => {
      assert.is(logoFault(bytes), null)
      const verdict = await renderLogo(bytes)
      assert.match(verdict.ok ? 'taken' : verdict.reason, reason)
    })
  }

  for (const [what, bytes] of [
    ['PNG', png],
    ['JPEG', jpeg],
    ['WebP', webp],
  ] as const) {
    t(`a ${what} is taken, at its own size, as a plain PNG of three channels`, async () => {
      const { width, height, meta } = await rendered(bytes)
      assert.equal([width, height], [64, 32])
      assert.equal([meta.format, meta.channels, meta.depth, meta.hasAlpha], ['png', 3, 'uchar', false])
    })
  }
  for (const [what, bytes] of SOUND) {
    t(`${what} is taken`, async () => {
      assert.is(logoFault(bytes), null)
      const { meta } = await rendered(bytes)
      assert.equal([meta.channels, meta.isProgressive ?? false], [3, false])
    })
  }

  t('fits into its box and is never made larger', async () => {
    const wide = await rendered(await plain(3000, 300).png().toBuffer())
    assert.equal([wide.width, wide.height], [LOGO_WIDTH, 80])
    const high = await rendered(await plain(500, 2000).png().toBuffer())
    assert.equal([high.width, high.height], [100, LOGO_HEIGHT])
    const small = await rendered(await plain(7, 5).png().toBuffer())
    assert.equal([small.width, small.height], [7, 5])
  })
  t('stands on white where it was transparent', async () => {
    const clear = sharp({ create: { width: 8, height: 8, channels: 4, background: { r: 9, g: 9, b: 9, alpha: 0 } } })
    const { bytes } = await rendered(await clear.png().toBuffer())
    const { data } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
    assert.equal([...data.subarray(0, 3)], [255, 255, 255])
  })
  t('stands up when it lay on its side, and leaves place and camera behind', async () => {
    const lying = await plain(60, 30)
      .withExif({ IFD0: { Copyright: 'CANARY' }, IFD3: { GPSLatitude: '52/1 0/1 0/1' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const { width, height, meta, bytes } = await rendered(lying)
    assert.equal([width, height], [30, 60])
    assert.equal([meta.exif, meta.icc, meta.xmp, meta.iptc], [undefined, undefined, undefined, undefined])
    assert.not.ok(bytes.includes('CANARY'))
  })
  t('becomes a JPEG when it is a photograph, a tenth as heavy', async () => {
    const photo = await sharp({
      create: { width: 1200, height: 900, channels: 3, background: '#808080', noise: { type: 'gaussian', sigma: 40 } },
    })
      .jpeg()
      .toBuffer()
    const { meta, bytes } = await rendered(photo)
    assert.equal([meta.format, meta.width, meta.height], ['jpeg', 533, 400])
    assert.ok(bytes.length < 300_000, `${bytes.length} bytes`)
  })
  t('is the same bytes each time', async () => {
    assert.equal((await rendered(jpeg)).bytes, (await rendered(jpeg)).bytes)
  })
})
