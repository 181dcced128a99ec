/**
 * The headers of a site's files, the same in the preview and on the host. No script runs, nothing is fetched from elsewhere, nothing
 * is framed but the player of a video that somebody asked for, and a form leads to the platform alone. Source: CSP Level 3; RFC 9111;
 * RFC 8246 (immutable).
 */
import { hashOf, policyOf, SELF } from '../../text/policy.ts'
import { FACADE_STYLE } from './forms/small/facade.ts'
import type { SiteFile } from './input.ts'

const YEAR_SECONDS = 31_536_000
/** A page may be served this long before it is asked for anew; a publish is seen by everybody after that. */
const PAGE_SECONDS = 60

export type HeaderOptions = {
  /** For previews: no search engine keeps the page, and no cache does. The bytes are those that go live. */
  noindex?: boolean
  /** Who may frame the pages, as a source of CSP; nobody when left out. */
  frameAncestors?: string
  /** The address that the contact form posts to. */
  forms?: string
}

export type Headers = Record<string, string>

const INLINE_STYLE = /<style>([^<]*)<\/style>/g

/** What stands in the frame of a video is written into the page, and is under the page's policy. */
const FACADE_HASH = hashOf(FACADE_STYLE)

/** The page for what is not found carries its own style, for it is served under any path. */
const styleHashesOf = (content: SiteFile['content']): string[] =>
  typeof content === 'string' ? [...content.matchAll(INLINE_STYLE)].map(([, style = '']) => hashOf(style)) : []

/** Of any language. */
const NOT_FOUND = /^([a-z-]+\/)?404\.html$/
export const isNotFound = (path: string): boolean => NOT_FOUND.test(path)

/** Lies beside the pages: what a host says before each of them (publishing/route.ts). */
export const HINTS_PATH = 'early-hints.txt'

/** The folder of an address: a redirect stays in it, and nothing else of that host is allowed. Source: CSP Level 3, path-part match. */
const folderOf = (url: string): string => url.slice(0, url.lastIndexOf('/') + 1)

const cacheOf = (path: string, noindex: boolean): string => {
  if (noindex) return 'private, no-store'
  return path.startsWith('assets/') ? `public, max-age=${YEAR_SECONDS}, immutable` : `public, max-age=${PAGE_SECONDS}`
}

/** Header names in lower case → values, for one file. */
export const headersOf = (
  { path, contentType, content, framed = [] }: SiteFile,
  options: HeaderOptions = {},
): Headers => {
  const { noindex = false, frameAncestors, forms } = options
  // only what is rendered by us in its own right holds markup with a style of its own
  const hashes = isNotFound(path) ? styleHashesOf(content) : framed.length > 0 ? [FACADE_HASH] : []
  return {
    'content-type': contentType,
    'content-security-policy': policyOf({
      styles: [SELF, ...hashes],
      images: [SELF],
      fonts: [SELF],
      forms: forms === undefined || !path.endsWith('.html') || isNotFound(path) ? [] : [folderOf(forms)],
      frames: frameAncestors === undefined ? [] : [frameAncestors],
      ...(framed.length > 0 && { framed }),
    }),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': path.startsWith('assets/') ? 'cross-origin' : 'same-origin',
    'cache-control': cacheOf(path, noindex),
    ...(noindex ? { 'x-robots-tag': 'noindex, nofollow, noarchive' } : {}),
  }
}

/** Path → headers, for all files of a site. */
export const siteHeaders = (files: readonly SiteFile[], options: HeaderOptions = {}): Record<string, Headers> =>
  Object.fromEntries(files.map((file) => [file.path, headersOf(file, options)]))
