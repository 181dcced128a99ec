/** Pictures: every format and width that there is, a place that is kept free, and a colour until the bytes are here. */
import { type Html, html } from '../../../text/html.ts'
import type { ImageFormat, ImageVariant, RenderedImage } from '../input.ts'

const EXTENSIONS: Record<ImageFormat, string> = { avif: 'avif', webp: 'webp', jpeg: 'jpg', png: 'png' }
export const IMAGE_TYPES: Record<ImageFormat, string> = {
  avif: 'image/avif',
  webp: 'image/webp',
  jpeg: 'image/jpeg',
  png: 'image/png',
}

/** Hex digits of a file's name: 64 bits, and the digest of the site binds all 256. */
const NAME_DIGITS = 16

/** Where bytes stand in the site, as `assets/0123456789abcdef.avif`. */
export const assetPath = (sha256: string, extension: string): string =>
  `assets/${sha256.slice(0, NAME_DIGITS)}.${extension}`

export const variantPath = ({ sha256, format }: ImageVariant): string => assetPath(sha256, EXTENSIONS[format])

/** Class that paints the dominant colour behind a picture. Styles may not stand in the markup under our policy. */
export const dominantClass = (dominant: string): string => `d${dominant.slice(1)}`

const isColour = (dominant: string): boolean => /^#[0-9a-f]{6}$/.test(dominant)

/** The rules of the colours behind pictures, in a fixed order: calm, for a dark picture would be a hole until it is here. */
export const dominantRules = (images: readonly RenderedImage[]): string =>
  [...new Set(images.map(({ dominant }) => dominant))]
    .filter(isColour)
    .sort()
    .map((dominant) => `.${dominantClass(dominant)}{background-color:color-mix(in srgb,var(--paper) 70%,${dominant})}`)
    .join('')

const variantsIn = (image: RenderedImage, format: ImageFormat): ImageVariant[] =>
  image.variants.filter((variant) => variant.format === format).sort((a, b) => a.width - b.width)

/** What every browser shows: JPEG, or PNG where there is transparency. */
export const plainVariants = (image: RenderedImage): ImageVariant[] => {
  const jpeg = variantsIn(image, 'jpeg')
  return jpeg.length > 0 ? jpeg : variantsIn(image, 'png')
}

/** The width that stands in `src`, for a browser that reads no `srcset`. */
const PLAIN_WIDTH = 960

const nearestTo = (variants: readonly ImageVariant[], width: number): ImageVariant | undefined =>
  variants.find((variant) => variant.width >= width) ?? variants.at(-1)

/** Addresses of a picture as `src` and `srcset` have them; empty where there is nothing of the kind. */
type Sources = { main: string; avif: string; webp: string; plain: string }

/** The same picture stands on many pages at the same depth. */
const known = new WeakMap<RenderedImage, Map<string, Sources>>()

const sourcesOf = (image: RenderedImage, root: string): Sources => {
  const byRoot = known.get(image) ?? new Map<string, Sources>()
  const before = byRoot.get(root)
  if (before !== undefined) return before
  const srcset = (variants: readonly ImageVariant[]) =>
    variants.map((variant) => `${root}${variantPath(variant)} ${variant.width}w`).join(', ')
  const plain = plainVariants(image)
  const main = nearestTo(plain, PLAIN_WIDTH)
  const sources = {
    main: main === undefined ? '' : `${root}${variantPath(main)}`,
    avif: srcset(variantsIn(image, 'avif')),
    webp: srcset(variantsIn(image, 'webp')),
    plain: srcset(plain),
  }
  known.set(image, byRoot.set(root, sources))
  return sources
}

export type Shown = {
  alt: string
  /** Of the picture's place, as CSS has it in `sizes`. */
  sizes: string
  /** From the page to the root of the site. */
  root: string
  /** The first picture of a page is fetched at once, the others when they come near. */
  eager: boolean
  /** Class of the point around which it is cropped. */
  position: string
}

/** `<picture>` with its sources, or null when there is nothing that can be shown. */
export const pictureOf = (image: RenderedImage, { alt, sizes, root, eager, position }: Shown): Html | null => {
  const { main, avif, webp, plain } = sourcesOf(image, root)
  if (main === '') return null
  const source = (format: 'avif' | 'webp', srcset: string) =>
    srcset !== '' && html`<source type="${IMAGE_TYPES[format]}" srcset="${srcset}" sizes="${sizes}">`
  const loading = eager ? html` fetchpriority="high"` : html` loading="lazy" decoding="async"`
  return html`<picture>${source('avif', avif)}${source('webp', webp)}<img class="${dominantClass(image.dominant)} ${position}" src="${main}" srcset="${plain}" sizes="${sizes}" width="${image.width}" height="${image.height}" alt="${alt}"${loading}></picture>`
}

/** The variant that a desktop fetches for a picture over its whole width, for the budget. */
export const heaviestShown = (image: RenderedImage): ImageVariant | undefined => {
  const avif = variantsIn(image, 'avif')
  return nearestTo(avif.length > 0 ? avif : plainVariants(image), 1440)
}
