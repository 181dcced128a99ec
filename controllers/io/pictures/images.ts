/**
 * Pictures of strangers to pictures that may be served: decoded within limits of bytes, pixels and time, turned upright, every
 * byte of metadata left behind, and written anew in AVIF, WebP and JPEG (PNG where there is transparency) at up to five
 * widths. Nothing of the original file is served, so what else it may be (a polyglot) does not get out.
 * Source: rules/platform.md#pictures-from-users. The only file that imports sharp.
 */
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { type ImageSource, imageSourceOf } from '../../../crds/files/imagesource.ts'
import { LOGO_PIXELS_MAX, logoFault, logoSizeFault } from '../../../crds/files/logo.ts'
import type { ImageFormat, ImageVariant, RenderedImage } from '../../../crds/site/render/input.ts'

export const IMAGE_BYTES_MAX = 10_000_000
export const IMAGE_PIXELS_MAX = 40_000_000
export const IMAGE_SIDE_MAX = 12_000
export const IMAGE_TIME_MAX_S = 20
/** Pixels. A picture is never made larger than it is. */
export const IMAGE_WIDTHS = [320, 640, 960, 1440, 2048] as const

export type ImageVerdict =
  | { ok: true; image: RenderedImage; blobs: { sha256: string; bytes: Uint8Array; contentType: string }[] }
  | { ok: false; reason: string }

/** What the decoder calls the format that the first bytes promise. */
const DECODED_AS: Record<ImageSource, string> = { jpeg: 'jpeg', png: 'png', webp: 'webp', avif: 'heif' }

// one thread each: the machine is shared, and two pictures at a time keep both cores busy
sharp.concurrency(1)
sharp.cache(false)

const open = (bytes: Uint8Array, pixelsMax = IMAGE_PIXELS_MAX, timeMaxS = IMAGE_TIME_MAX_S) =>
  sharp(bytes, {
    limitInputPixels: pixelsMax,
    limitInputChannels: 4,
    failOn: 'error',
    animated: false,
    sequentialRead: true,
  }).timeout({ seconds: timeMaxS })

const refusal = (reason: string): ImageVerdict => ({ ok: false, reason })

/**
 * A picture for the renderer and its bytes for the blob store. Same bytes in, same bytes out, on one version of the codecs.
 * A refusal is a sentence for the one who sent it; it never throws for what the bytes are.
 */
export const renderImage = async (bytes: Uint8Array): Promise<ImageVerdict> => {
  if (bytes.byteLength > IMAGE_BYTES_MAX) {
    return refusal(`is ${bytes.byteLength} bytes long; at most ${IMAGE_BYTES_MAX} are taken`)
  }
  const source = imageSourceOf(bytes)
  if (source === null) return refusal('is not a JPEG, PNG, WebP or AVIF picture')
  try {
    return await transcode(bytes, source)
  } catch (error) {
    return refusal(`cannot be read as ${source.toUpperCase()}: ${wordsOf(error)}`)
  }
}

/** The decoder's own first line, without paths and without what a file may have put into it. */
const wordsOf = (error: unknown): string => {
  const [line = ''] = (error instanceof Error ? error.message : '').split('\n')
  return line.replace(/[^\x20-\x7e]/g, '').slice(0, 120) || 'the decoder gave up'
}

const transcode = async (bytes: Uint8Array, source: ImageSource): Promise<ImageVerdict> => {
  const { width, height, format, pages = 1, orientation = 1, hasAlpha } = await open(bytes).metadata()
  if (format !== DECODED_AS[source]) return refusal(`begins as ${source.toUpperCase()} and is ${format}`)
  if (pages > 1) return refusal('moves; send a single picture')
  if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX) {
    return refusal(`is ${width} × ${height} pixels; at most ${IMAGE_PIXELS_MAX} are taken, ${IMAGE_SIDE_MAX} on a side`)
  }
  const turned = orientation >= 5
  const size = turned ? { width: height, height: width } : { width, height }
  // decoded once, small enough for the largest width, in a plain sRGB without metadata
  const { data, info } = await open(bytes)
    .autoOrient()
    .resize({ width: Math.min(size.width, IMAGE_WIDTHS.at(-1) ?? size.width), withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const raw = { width: info.width, height: info.height, channels: info.channels }
  const seen = hasAlpha === true && !(await sharp(data, { raw }).stats()).isOpaque
  const variants: ImageVariant[] = []
  const blobs: { sha256: string; bytes: Uint8Array; contentType: string }[] = []
  for (const [format, target] of plannedVariants(info.width, seen)) {
    const made = await encode(data, raw, target, format)
    const sha256 = createHash('sha256').update(made.data).digest('hex')
    variants.push({ format, width: made.info.width, height: made.info.height, sha256, bytes: made.data.byteLength })
    blobs.push({ sha256, bytes: made.data, contentType: `image/${format}` })
  }
  const dominant = await dominantOf(data, raw)
  return { ok: true, image: { width: info.width, height: info.height, dominant, variants }, blobs }
}

/** Every format at every width that the picture has, and its own width where that is between two. */
const plannedVariants = (width: number, transparent: boolean): [ImageFormat, number][] => {
  const smaller = IMAGE_WIDTHS.filter((one) => one < width)
  const widths = [...smaller, width].slice(0, IMAGE_WIDTHS.length)
  const formats = ['avif', 'webp', transparent ? 'png' : 'jpeg'] as const
  return formats.flatMap((format) => widths.map((target): [ImageFormat, number] => [format, target]))
}

type Raw = { width: number; height: number; channels: 1 | 2 | 3 | 4 }

const encode = (data: Uint8Array, raw: Raw, width: number, format: ImageFormat) => {
  const resized = sharp(data, { raw }).timeout({ seconds: IMAGE_TIME_MAX_S }).resize({ width })
  switch (format) {
    case 'avif':
      return resized.avif({ quality: 52, effort: 2, chromaSubsampling: '4:2:0' }).toBuffer({ resolveWithObject: true })
    case 'webp':
      return resized.webp({ quality: 76, effort: 3 }).toBuffer({ resolveWithObject: true })
    case 'jpeg':
      return resized
        .flatten({ background: '#ffffff' })
        .jpeg({ quality: 76, mozjpeg: true })
        .toBuffer({ resolveWithObject: true })
    case 'png':
      return resized.png({ compressionLevel: 9, palette: true }).toBuffer({ resolveWithObject: true })
    default: {
      const never: never = format
      throw new Error(String(never))
    }
  }
}

const dominantOf = async (data: Uint8Array, raw: Raw): Promise<string> => {
  const { dominant } = await sharp(data, { raw }).flatten({ background: '#ffffff' }).stats()
  return `#${[dominant.r, dominant.g, dominant.b].map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

export const LOGO_TIME_MAX_S = 5
/** Pixels: 300 dots an inch where a logo is drawn 68 × 34 mm. It is never made larger than it is. */
export const LOGO_WIDTH = 800
export const LOGO_HEIGHT = 400
/** A PNG above this is a photograph, which weighs a tenth as a JPEG; each document carries it. */
const LOGO_PNG_MAX_BYTES = 96 * 1024

export type LogoVerdict = { ok: true; bytes: Buffer; width: number; height: number } | { ok: false; reason: string }

/**
 * A logo for documents: upright, at most 800 × 400 pixels, plain sRGB on white without metadata, as a PNG of 8 bits a channel,
 * not interlaced, or a JPEG. Both go into a PDF as they are. Same bytes in, same bytes out, on one version of the codecs.
 * It never throws for what the bytes are.
 */
export const renderLogo = async (bytes: Buffer): Promise<LogoVerdict> => {
  const reason = logoFault(bytes)
  if (reason !== null) return { ok: false, reason }
  const source = imageSourceOf(bytes)
  try {
    const { width, height, format, pages = 1 } = await open(bytes, LOGO_PIXELS_MAX, LOGO_TIME_MAX_S).metadata()
    if (source === null || format !== DECODED_AS[source])
      return { ok: false, reason: `is ${format} and begins as ${source}` }
    if (pages > 1) return { ok: false, reason: 'moves; send a single picture' }
    const tooLarge = logoSizeFault({ width, height })
    return tooLarge === null ? await drawnLogo(bytes) : { ok: false, reason: tooLarge }
  } catch (error) {
    return { ok: false, reason: `cannot be read: ${wordsOf(error)}` }
  }
}

const drawnLogo = async (bytes: Buffer): Promise<LogoVerdict> => {
  const { data, info } = await open(bytes, LOGO_PIXELS_MAX, LOGO_TIME_MAX_S)
    .autoOrient()
    .resize({ width: LOGO_WIDTH, height: LOGO_HEIGHT, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const drawn = () => sharp(data, { raw: { width, height, channels: info.channels } })
  const png = await drawn().png({ compressionLevel: 9, palette: false, progressive: false }).toBuffer()
  if (png.byteLength <= LOGO_PNG_MAX_BYTES) return { ok: true, bytes: png, width, height }
  const jpeg = await drawn().jpeg({ quality: 88, chromaSubsampling: '4:4:4', progressive: false }).toBuffer()
  return { ok: true, bytes: jpeg.byteLength < png.byteLength ? jpeg : png, width, height }
}
