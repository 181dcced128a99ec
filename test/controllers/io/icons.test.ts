import sharp from 'sharp'
import { ICON_SIZES, makeIconDrawer } from '../../../controllers/io/pictures/icons.ts'
import { imageSourceOf } from '../../../crds/files/imagesource.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Icons as PNGs: what is drawn of initials is seen by its pixels, for a machine without fonts draws a plain square from text. */

const GREEN = { fill: '#228844', onFill: '#ffffff' }

const pixelsOf = async (png: Uint8Array) => {
  const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)]
  let white = 0
  for (let n = 0; n < data.length; n += 4) if ((data[n] ?? 0) > 240 && (data[n + 1] ?? 0) > 240) white++
  return { size: [info.width, info.height], at, white: white / (info.width * info.height) }
}

spec('icons of sites', (t) => {
  const draw = makeIconDrawer()

  for (const [letters, lang] of [
    ['VC', 'en'],
    ['磁', 'zh-Hans'],
    ['ΩЖ', 'es'],
  ] as const) {
    t(`are drawn of ${letters}, square, in three sizes, the same each time`, async () => {
      const icons = await draw({ letters, ...GREEN, lang })
      assert.equal(
        icons.map(({ size }) => size),
        [...ICON_SIZES],
      )
      for (const { size, blob } of icons) {
        assert.is(imageSourceOf(blob.bytes), 'png')
        const { size: sides, at, white } = await pixelsOf(blob.bytes)
        assert.equal(sides, [size, size])
        assert.ok(white > 0.03 && white < 0.5, `${white} of it is letters`)
        assert.is(at(0, 0)[3], size === 180 ? 255 : 0, 'a phone rounds its own')
      }
      const again = await draw({ letters, ...GREEN, lang })
      assert.equal(
        again.map(({ blob }) => blob.sha256),
        icons.map(({ blob }) => blob.sha256),
      )
    })
  }

  t('are a plain square for a name without a letter that any face has', async () => {
    for (const { blob } of await draw({ letters: '', ...GREEN, lang: 'en' })) {
      assert.is((await pixelsOf(blob.bytes)).white, 0)
    }
  })

  t('hold the whole logo, on the paper of the site where nothing may show through', async () => {
    const logo = await sharp({ create: { width: 400, height: 100, channels: 3, background: '#cc3333' } })
      .png()
      .toBuffer()
    for (const { size, blob } of await draw({ logo, paper: '#fffaf0' })) {
      const { at, size: sides } = await pixelsOf(blob.bytes)
      assert.equal(sides, [size, size])
      assert.equal(at(size / 2, size / 2).slice(0, 3), [204, 51, 51])
      assert.equal(at(1, 1), size === 180 ? [255, 250, 240, 255] : [0, 0, 0, 0])
    }
  })
})
