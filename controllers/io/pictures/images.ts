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
const WIDEST = 2048

/** Pixels of the one width that is made first, for the preview. */
export const QUICK_WIDTH = 960
/** A picture without more pixels than this has all its widths within some tens of milliseconds: it needs no quick one. */
const SMALL_PIXELS = 128_000

export type ImageBlob = { sha256: string; bytes: Uint8Array; contentType: string }
export type ImageRefusal = { ok: false; reason: string }
export type ImageVerdict = { ok: true; image: RenderedImage; blobs: ImageBlob[] } | ImageRefusal
/** `isWhole`: all its widths are there. */
export type QuickVerdict = (Extract<ImageVerdict, { ok: true }> & { isWhole: boolean }) | ImageRefusal

/** One width in one format. */
export type ImageTarget = { format: ImageFormat; width: number }

/** A picture that is decoded, whose widths are made one by one. */
export type OpenImage = {
  /** All that there is to make, the cheapest format first. */
  targets: readonly ImageTarget[]
  encode(target: ImageTarget): Promise<{ variant: ImageVariant; blob: ImageBlob }>
  /** Once all are made. */
  finish(variants: readonly ImageVariant[]): Promise<RenderedImage>
}
export type OpenVerdict = { ok: true; open: OpenImage } | ImageRefusal

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

const refusal = (reason: string): ImageRefusal => ({ ok: false, reason })

/** A refusal is a sentence for the one who sent it. */
const judged = async <Given extends { ok: true }>(
  bytes: Uint8Array,
  work: (seen: Seen) => Promise<Given>,
): Promise<Given | ImageRefusal> => {
  if (bytes.byteLength > IMAGE_BYTES_MAX) {
    return refusal(`is ${bytes.byteLength} bytes long; at most ${IMAGE_BYTES_MAX} are taken`)
  }
  const source = imageSourceOf(bytes)
  if (source === null) return refusal('is not a JPEG, PNG, WebP or AVIF picture')
  try {
    const seen = await look(bytes, source)
    return seen.ok ? await work(seen) : seen
  } catch (error) {
    return refusal(`cannot be read as ${source.toUpperCase()}: ${wordsOf(error)}`)
  }
}

/** The decoder's own first line, without paths and without what a file may have put into it. */
const wordsOf = (error: unknown): string => {
  const [line = ''] = (error instanceof Error ? error.message : '').split('\n')
  return line.replace(/[^\x20-\x7e]/g, '').slice(0, 120) || 'the decoder gave up'
}

/** What a picture says of itself; upright. */
type Seen = { ok: true; width: number; height: number; hasAlpha: boolean }

const look = async (bytes: Uint8Array, source: ImageSource): Promise<Seen | ImageRefusal> => {
  const { width, height, format, pages = 1, orientation = 1, hasAlpha } = await open(bytes).metadata()
  if (format !== DECODED_AS[source]) return refusal(`begins as ${source.toUpperCase()} and is ${format}`)
  if (pages > 1) return refusal('moves; send a single picture')
  if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX) {
    return refusal(`is ${width} × ${height} pixels; at most ${IMAGE_PIXELS_MAX} are taken, ${IMAGE_SIDE_MAX} on a side`)
  }
  const turned = orientation >= 5
  return { ok: true, width: turned ? height : width, height: turned ? width : height, hasAlpha: hasAlpha === true }
}

/** Decoded once, no wider than `width`, in a plain sRGB without metadata. */
const decode = (bytes: Uint8Array, width: number) =>
  open(bytes)
    .autoOrient()
    .resize({ width, withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })

const blobOf = (bytes: Uint8Array, format: ImageFormat): ImageBlob => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  bytes,
  contentType: `image/${format}`,
})

const variantOf = (made: Encoded, format: ImageFormat): { variant: ImageVariant; blob: ImageBlob } => {
  const blob = blobOf(made.data, format)
  const { width, height } = made.info
  return { variant: { format, width, height, sha256: blob.sha256, bytes: made.data.byteLength }, blob }
}

/**
 * A picture that can be shown at once: one width in a format that is quickly written, of a picture that was decoded to its end.
 * A small one is whole. It never throws for what the bytes are.
 */
export const quickImage = (bytes: Uint8Array): Promise<QuickVerdict> =>
  judged(bytes, async ({ width, height, hasAlpha }) => {
    if (width * height <= SMALL_PIXELS) return { ...(await transcode(bytes)), isWhole: true }
    const { data, info } = await decode(bytes, QUICK_WIDTH)
    const raw = { width: info.width, height: info.height, channels: info.channels }
    const format = hasAlpha ? 'png' : 'jpeg'
    const drawn = sharp(data, { raw }).timeout({ seconds: IMAGE_TIME_MAX_S })
    const written = hasAlpha ? drawn.png({ compressionLevel: 2 }) : drawn.jpeg({ quality: 72 })
    const { variant, blob } = variantOf(await written.toBuffer({ resolveWithObject: true }), format)
    const shown = Math.min(width, WIDEST)
    const size = { width: shown, height: Math.max(1, Math.round((height * shown) / width)) }
    return {
      ok: true,
      image: { ...size, dominant: await dominantOf(data, raw), variants: [variant] },
      blobs: [blob],
      isWhole: false,
    }
  })

/** A picture to make all widths of. It never throws for what the bytes are. */
export const openImage = (bytes: Uint8Array): Promise<OpenVerdict> =>
  judged(bytes, async () => ({ ok: true, open: await opened(bytes) }))

/**
 * A picture for the renderer and its bytes for the blob store, all at once. Same bytes in, same bytes out, on one version of the
 * codecs. It never throws for what the bytes are.
 */
export const renderImage = (bytes: Uint8Array): Promise<ImageVerdict> => judged(bytes, () => transcode(bytes))

const transcode = async (bytes: Uint8Array): Promise<Extract<ImageVerdict, { ok: true }>> => {
  const { targets, encode: make, finish } = await opened(bytes)
  const made = []
  for (const target of targets) made.push(await make(target))
  const ordered = made.toSorted((a, b) => inOrder(a.variant, b.variant))
  const image = await finish(ordered.map(({ variant }) => variant))
  return { ok: true, image, blobs: ordered.map(({ blob }) => blob) }
}

const opened = async (bytes: Uint8Array): Promise<OpenImage> => {
  const { data, info } = await decode(bytes, WIDEST)
  const raw = { width: info.width, height: info.height, channels: info.channels }
  const isOpaque = info.channels < 4 && info.channels !== 2 ? true : (await sharp(data, { raw }).stats()).isOpaque
  return {
    targets: plannedTargets(info.width, !isOpaque),
    encode: async ({ format, width }) => variantOf(await encode(data, raw, width, format), format),
    finish: async (variants) => {
      const dominant = await dominantOf(data, raw)
      return { width: info.width, height: info.height, dominant, variants: variants.toSorted(inOrder) }
    },
  }
}

/** As browsers choose: whatever was made first, a picture is the same. */
const FORMATS: readonly ImageFormat[] = ['avif', 'webp', 'jpeg', 'png']
const inOrder = (a: ImageVariant, b: ImageVariant): number =>
  FORMATS.indexOf(a.format) - FORMATS.indexOf(b.format) || a.width - b.width

/** Every format at every width that the picture has, and its own width where that is between two; what is dear comes last. */
const plannedTargets = (width: number, transparent: boolean): ImageTarget[] => {
  const smaller = IMAGE_WIDTHS.filter((one) => one < width)
  const widths = [...smaller, width].slice(0, IMAGE_WIDTHS.length)
  const formats = [transparent ? 'png' : 'jpeg', 'webp', 'avif'] as const
  return formats.flatMap((format) => widths.map((target) => ({ format, width: target })))
}

type Raw = { width: number; height: number; channels: 1 | 2 | 3 | 4 }
type Encoded = { data: Buffer; info: { width: number; height: number } }

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

/**
 * A picture of ours within a square, as a PNG.
 * @param ground what shows through; null for nothing
 */
export const squareIcon = async (picture: Uint8Array, size: number, ground: string | null): Promise<ImageBlob> => {
  const clear = { r: 0, g: 0, b: 0, alpha: 0 }
  const fitted = sharp(picture)
    .timeout({ seconds: IMAGE_TIME_MAX_S })
    .resize({ width: size, height: size, fit: 'contain', background: ground ?? clear })
  const drawn = ground === null ? fitted : fitted.flatten({ background: ground })
  return blobOf(await drawn.toColourspace('srgb').png({ compressionLevel: 9 }).toBuffer(), 'png')
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
