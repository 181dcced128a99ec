/**
 * What a site is rendered from, and what comes out. Everything is an argument and bytes of pictures and fonts are named by
 * their sha256, so that rendering is pure and cheap: same input, same files.
 *
 * The hostname is part of the input. Canonical addresses, Open Graph and the sitemap need it, and they are live bytes, so
 * another domain gives another digest. So is the address that the contact form posts to, which is the platform's. Whether a page may be indexed is said by a header
 * (`siteHeaders`), never by the bytes: what a reviewer sees in the preview is what goes live, byte for byte.
 */
import type { BrandTokens } from '../content/brand/brand.ts'
import type { Content, Template } from '../content/content.ts'

/** Bytes that lie in the blob store. */
export type BlobRef = { sha256: string; bytes: number }

export type ImageFormat = 'avif' | 'webp' | 'jpeg' | 'png'

/** One size of a picture in one format; pixels. */
export type ImageVariant = BlobRef & { format: ImageFormat; width: number; height: number }

/**
 * A picture as `controllers/io/pictures/images.ts` made it: the size it may be shown at most, in pixels, its colour as `#rrggbb`
 * while it loads, and its variants in any order. PNG stands in for JPEG where the picture has transparency.
 */
export type RenderedImage = { width: number; height: number; dominant: string; variants: readonly ImageVariant[] }

/** The icon as a PNG; pixels of each side. */
export type IconFile = BlobRef & { size: number }

export type SiteInput = {
  content: Content
  /** By the key of `imageKey`: `KEY` for `asset:KEY`, else the value as it stands in the content. */
  images: Readonly<Record<string, RenderedImage>>
  /** The logo, as an asset named `logo` gives it; null for initials. */
  logo: RenderedImage | null
  /** The icon as `controllers/io/pictures/icons.ts` drew it; none when left out. */
  icons?: readonly IconFile[]
  /** File name of a font → its bytes; what `readWebfonts` of controllers/io/pictures/webfonts.ts lists. */
  fonts: Readonly<Record<string, BlobRef>>
  /** Key of a Han face cut to this site (`hanCutsOf`) → its bytes; the system's face stands for one that is not there. */
  han?: Readonly<Record<string, BlobRef>>
  template: Template
  brand: BrandTokens | null
  /** Where it will be live; null while no domain is chosen: no canonical address, no sitemap. */
  hostname: string | null
  /** Where the contact form posts to; without it the form leads nowhere, as in the bytes that an approval compares. */
  form?: string | null
}

/**
 * A file of the site. `path` is relative to its root, as `about/index.html`. Pictures and fonts come from the blob store.
 * `framed`: origins that the page shows once somebody asks for it; left out where there are none.
 */
export type SiteFile = { path: string; contentType: string; content: string | BlobRef; framed?: readonly string[] }

export const WARNING_CODES = [
  'MISSING_ALT',
  'MISSING_IMAGE',
  'EMPTY_SECTION',
  'SECTION_NOT_SHOWN',
  'CONTRAST_CLAMPED',
  'OVER_BUDGET',
  'FAR_OVER_BUDGET',
] as const
export type WarningCode = (typeof WARNING_CODES)[number]

/** A gap or a cost that does not forbid the site. `pointer` is into the content, or names a file for a budget. */
export type Warning = { code: WarningCode; pointer: string; detail: string }

export type RenderedSite = { files: SiteFile[]; warnings: Warning[] }

/** The key under which the picture of a content value stands in `SiteInput.images`. */
export const imageKey = (value: string): string => (value.startsWith('asset:') ? value.slice('asset:'.length) : value)

/** The picture of a content value; undefined when its bytes are not there. An asset may be called as a method of every object is. */
export const imageOf = (images: SiteInput['images'], value: string): RenderedImage | undefined => {
  const key = imageKey(value)
  return Object.hasOwn(images, key) ? images[key] : undefined
}
