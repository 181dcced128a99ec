/** Pictures and fonts for the sample sites: painted here, and made ready as an upload is. */
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { type HanCutter, makeHanCutter } from '../../../../controllers/io/pictures/hancutter.ts'
import { renderImage } from '../../../../controllers/io/pictures/images.ts'
import { readWebfonts } from '../../../../controllers/io/pictures/webfonts.ts'
import type { Content } from '../../../../crds/site/content/content.ts'
import type { BlobRef, RenderedImage, SiteInput } from '../../../../crds/site/render/input.ts'
import { hanCutsOf } from '../../../../crds/site/render/site.ts'

/** Bytes by their sha256, as the blob store has them. */
export type Blobs = Map<string, Uint8Array>

export type Materials = { images: Record<string, RenderedImage>; fonts: Record<string, BlobRef>; blobs: Blobs }

/** A still life: a table, a wall, light from one side, and a vessel; each number gives another one. */
export const paint = (seed: number, width = 1600, height = 1200): Promise<Buffer> => {
  const hue = (seed * 47) % 360
  const tone = (l: number, s = 24, shift = 0) => `hsl(${(hue + shift) % 360} ${s}% ${l}%)`
  const x = 360 + ((seed * 137) % 700)
  const w = 150 + ((seed * 61) % 160)
  const h = 320 + ((seed * 83) % 260)
  const neck = w * (0.3 + ((seed * 29) % 40) / 100)
  const base = 960
  const vessel = `M${x - neck} ${base - h} C ${x - neck} ${base - h * 0.7}, ${x - w} ${base - h * 0.6}, ${x - w} ${base - h * 0.3} C ${x - w} ${base}, ${x - w * 0.6} ${base}, ${x} ${base} C ${x + w * 0.6} ${base}, ${x + w} ${base}, ${x + w} ${base - h * 0.3} C ${x + w} ${base - h * 0.6}, ${x + neck} ${base - h * 0.7}, ${x + neck} ${base - h} Z`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 1600 1200" preserveAspectRatio="xMidYMid slice">
<defs><linearGradient id="wall" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${tone(88)}"/><stop offset="1" stop-color="${tone(62)}"/></linearGradient>
<linearGradient id="clay" x1="0" y1="0" x2="1" y2="0"><stop offset="0" stop-color="${tone(66, 38, 20)}"/><stop offset=".35" stop-color="${tone(52, 40, 20)}"/><stop offset="1" stop-color="${tone(20, 34, 20)}"/></linearGradient>
<filter id="soft"><feGaussianBlur stdDeviation="28"/></filter></defs>
<rect width="1600" height="1200" fill="url(#wall)"/><path d="M0 0 L900 0 L420 860 L0 860 Z" fill="${tone(94)}" opacity=".35" filter="url(#soft)"/>
<rect y="860" width="1600" height="340" fill="${tone(40, 22, 14)}"/><rect y="860" width="1600" height="6" fill="${tone(54, 22, 14)}"/>
<ellipse cx="${x + w * 0.9}" cy="${base}" rx="${w * 1.9}" ry="46" fill="#000" opacity=".32" filter="url(#soft)"/>
<path d="${vessel}" fill="url(#clay)"/><ellipse cx="${x}" cy="${base - h}" rx="${neck}" ry="${neck * 0.22}" fill="${tone(16, 30, 20)}"/>
<ellipse cx="${x - w * 0.5}" cy="${base - h * 0.35}" rx="${w * 0.12}" ry="${h * 0.18}" fill="#fff" opacity=".18" filter="url(#soft)"/></svg>`
  return sharp(Buffer.from(svg)).jpeg({ quality: 90 }).toBuffer()
}

const KEYS = ['hero', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7']
/** Painted anew for a few keys; the others show them again. */
const PAINTED = 4

/** So that a picture of 640 pixels packs into 20 kB, and one of 1440 into 130, as one of a street does. */
const [GRAIN_BLUR, GAIN] = [2, 4]

/** Grain as a camera's: what is painted alone packs into a tenth of what a photograph does. @param sigma of 255 */
const grained = async (picture: Buffer, sigma: number): Promise<Buffer> => {
  const { width = 0, height = 0 } = await sharp(picture).metadata()
  const noise = { type: 'gaussian', mean: 128, sigma } as const
  const create = { width, height, channels: 3, background: '#808080', noise } as const
  const grain = await sharp({ create })
    .blur(GRAIN_BLUR)
    .linear(GAIN, 128 - 128 * GAIN)
    .png()
    .toBuffer()
  return sharp(picture)
    .composite([{ input: grain, blend: 'soft-light' }])
    .jpeg({ quality: 90 })
    .toBuffer()
}

/** The pictures of the samples, transcoded as an upload is, and the fonts. @param grain that the pictures get, 0 for none */
export const materials = async (width = 1000, grain = 0): Promise<Materials> => {
  const blobs: Blobs = new Map()
  const images: Record<string, RenderedImage> = {}
  const painted: RenderedImage[] = []
  for (const [index, key] of KEYS.entries()) {
    const known = painted[index % PAINTED]
    if (known !== undefined) images[key] = known
    else {
      const plain = await paint(5 + index, width, (width * 3) / 4)
      const image = await transcoded(grain === 0 ? plain : await grained(plain, grain), blobs)
      images[key] = image
      painted.push(image)
    }
  }
  const fonts: Record<string, BlobRef> = {}
  for (const { file, sha256, bytes } of readWebfonts()) {
    fonts[file] = { sha256, bytes: bytes.byteLength }
    blobs.set(sha256, bytes)
  }
  return { images, fonts, blobs }
}

export const transcoded = async (bytes: Uint8Array, blobs: Blobs): Promise<RenderedImage> => {
  const verdict = await renderImage(bytes)
  if (!verdict.ok) throw new Error(verdict.reason)
  for (const blob of verdict.blobs) blobs.set(blob.sha256, blob.bytes)
  return verdict.image
}

export const sampleInput = (content: Content, { images, fonts }: Materials): SiteInput => ({
  content,
  images,
  fonts,
  logo: null,
  template: content.meta.template,
  brand: null,
  hostname: 'voss.example',
})

let cutter: HanCutter | undefined
const cut = new Map<string, Uint8Array>()

/** The same with its Chinese typefaces, cut as an installation cuts them. */
export const withHan = async (input: SiteInput, { blobs }: Pick<Materials, 'blobs'>): Promise<SiteInput> => {
  const han: Record<string, BlobRef> = {}
  for (const one of hanCutsOf(input)) {
    cutter ??= makeHanCutter()
    const bytes = cut.get(one.key) ?? (await cutter.cut(one, { account: 'demo' }))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    cut.set(one.key, bytes)
    blobs.set(sha256, bytes)
    han[one.key] = { sha256, bytes: bytes.byteLength }
  }
  return { ...input, han }
}
