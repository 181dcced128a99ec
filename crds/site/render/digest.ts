/** What an approval binds: every file with its bytes and its type. */
import { createHash } from 'node:crypto'
import type { SiteFile } from './input.ts'

export type ManifestEntry = { path: string; sha256: string; bytes: number; contentType: string }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const byPath = (a: { path: string }, b: { path: string }): number => {
  if (a.path === b.path) return 0
  return a.path < b.path ? -1 : 1
}

/** Every file with its sha256 and size, sorted by path: what is uploaded, and what changed since the last time. */
export const manifestOf = (files: readonly SiteFile[]): ManifestEntry[] =>
  files
    .map(({ path, contentType, content }) =>
      typeof content === 'string'
        ? { path, sha256: sha256(content), bytes: Buffer.byteLength(content), contentType }
        : { path, sha256: content.sha256, bytes: content.bytes, contentType },
    )
    .sort(byPath)

/** sha256 in hex over the sorted list of (path, sha256, type), with lengths, so that no two lists read the same. */
export const digestOf = (files: readonly SiteFile[]): string =>
  sha256(JSON.stringify(manifestOf(files).map(({ path, sha256: sum, contentType }) => [path, sum, contentType])))
