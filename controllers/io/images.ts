/**
 * Pictures of strangers to pictures that may be served: decoded within limits of bytes, pixels and time, turned upright, every
 * byte of metadata left behind, and written anew in AVIF, WebP and JPEG (PNG where there is transparency) at up to five
 * widths. Nothing of the original file is served, so what else it may be (a polyglot) does not get out.
 * Source: SITES.md "Craft"; OWASP File Upload. The only file that imports sharp.
 */
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { type ImageSource, imageSourceOf } from '../../crds/site/imagesource.ts'
import type { ImageFormat, ImageVariant, RenderedImage } from '../../crds/site/render/input.ts'

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

const open = (bytes: Uint8Array) =>
  sharp(bytes, {
    limitInputPixels: IMAGE_PIXELS_MAX,
    limitInputChannels: 4,
    failOn: 'error',
    animated: false,
    sequentialRead: true,
  }).timeout({ seconds: IMAGE_TIME_MAX_S })

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
