/** What a rendering is made of, as it is stored: every file by the sha256 of its bytes, and how each sort of file is served. */
import { canonical } from '../../values/canonical.ts'
import type { Content } from '../content/content.ts'
import { type ManifestEntry, manifestOf } from '../render/digest.ts'
import { type Headers, headersOf, isNotFound } from '../render/headers.ts'
import type { SiteFile } from '../render/input.ts'

export type { ManifestEntry } from '../render/digest.ts'

/** Sorts of files: pages and what lies beside them, assets named by their bytes, and the page for what is not found. */
export const SORTS = ['page', 'asset', 'missing'] as const
export type Sort = (typeof SORTS)[number]

/** `headers` without the content type, which each file has in its entry. */
export type SiteManifest = {
  /** What the pages were made of, for whoever compares two renderings. */
  content: Content
  /** The sha256 of what else they were made of (`MadeOf`); a rendering of before has none. */
  made?: string
  files: ManifestEntry[]
  live: Record<Sort, Headers>
  preview: Record<Sort, Headers>
  /** Of pages that are not served as their sort is, by path: they frame somebody. A rendering without them, or of before, has none. */
  own?: Record<string, { live: Headers; preview: Headers }>
}

export const INDEX_PATH = 'index.html'
export const NOT_FOUND_PATH = '404.html'
export const ASSETS_FOLDER = 'assets/'

export const sortOf = (path: string): Sort => {
  if (isNotFound(path)) return 'missing'
  return path.startsWith(ASSETS_FOLDER) ? 'asset' : 'page'
}

const withoutType = ({ 'content-type': _type, ...rest }: Headers): Headers => rest

/** Previews are framed by the page of the reviewer alone. */
const PREVIEW = { noindex: true, frameAncestors: "'self'" }

/** Beside the files: where the contact form posts to, and the blob that names what it was made of. */
export type ManifestParts = { form?: string | null; made?: string }

export const siteManifest = (
  content: Content,
  files: readonly SiteFile[],
  { form = null, made }: ManifestParts = {},
): SiteManifest => {
  const forms = form === null ? {} : { forms: form }
  const headersFor = (options: Parameters<typeof headersOf>[1]): Record<Sort, Headers> => {
    const headers = SORTS.map((sort): [Sort, Headers] => {
      const file = files.find(({ path }) => sortOf(path) === sort)
      return [sort, file ? withoutType(headersOf({ ...file, framed: [] }, options)) : {}]
    })
    return Object.fromEntries(headers) as Record<Sort, Headers>
  }
  const preview = { ...PREVIEW, ...forms }
  const own = files.flatMap((file) =>
    file.framed === undefined
      ? []
      : [
          [
            file.path,
            { live: withoutType(headersOf(file, forms)), preview: withoutType(headersOf(file, preview)) },
          ] as const,
        ],
  )
  return {
    content,
    ...(made !== undefined && { made }),
    files: manifestOf(files),
    live: headersFor(forms),
    preview: headersFor(preview),
    ...(own.length > 0 && { own: Object.fromEntries(own) }),
  }
}

/** As a file is served, but for its type. */
export const headersAt = (manifest: SiteManifest, where: 'live' | 'preview', path: string): Headers =>
  manifest.own?.[path]?.[where] ?? manifest[where][sortOf(path)]

/** `about/index.html` → `/about/`. */
export const addressOfFile = (path: string): string =>
  `/${path === INDEX_PATH || path.endsWith(`/${INDEX_PATH}`) ? path.slice(0, -INDEX_PATH.length) : path}`

export const fileAt = ({ files }: Pick<SiteManifest, 'files'>, path: string): ManifestEntry | undefined =>
  files.find((file) => file.path === path)

/** The page for what is not found at a path: that of its language, else of the first. */
export const notFoundAt = ({ files }: Pick<SiteManifest, 'files'>, path: string): string => {
  const [folder = ''] = path.split('/')
  const own = `${folder}/${NOT_FOUND_PATH}`
  return files.some((file) => file.path === own) ? own : NOT_FOUND_PATH
}

/** How two sets of files differ, by path. */
export type FileDiff = { added: string[]; changed: string[]; removed: string[]; unchanged: number }

export const diffFiles = (before: readonly ManifestEntry[], after: readonly ManifestEntry[]): FileDiff => {
  const sums = new Map(before.map(({ path, sha256 }) => [path, sha256]))
  const paths = new Set(after.map(({ path }) => path))
  return {
    added: after.filter(({ path }) => !sums.has(path)).map(({ path }) => path),
    changed: after.filter(({ path, sha256 }) => sums.has(path) && sums.get(path) !== sha256).map(({ path }) => path),
    removed: before.filter(({ path }) => !paths.has(path)).map(({ path }) => path),
    unchanged: after.filter(({ path, sha256 }) => sums.get(path) === sha256).length,
  }
}

/** The parts of the content that differ, by their REST names; `before` is null for the first of all. */
export const changedSections = (before: Content | null, after: Content): string[] => {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after)])
  return [...names].filter((name) => canonical(Reflect.get(before ?? {}, name)) !== canonical(Reflect.get(after, name)))
}
