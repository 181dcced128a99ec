/**
 * What an upload of many files is reduced to before anything else looks at it: plain files, and links to them, under paths that
 * mean the same everywhere. No link that leads out, no devices, no empty folders (as in git), no owners, no dates.
 */
import { createHash } from 'node:crypto'
import { trimmedEnd } from '../values/trimmed.ts'

export const ARCHIVE_FILES_MAX = 20_000
/** All files together, uncompressed. */
export const ARCHIVE_MAX_BYTES = 400_000_000
export const PATH_MAX_BYTES = 512
/** What file systems take for one name. */
export const SEGMENT_MAX_BYTES = 255
export const PATH_DEPTH_MAX = 32

/** `path`: relative, `/` between segments, without `.`, `..` or an empty segment. */
export type ArchiveFile = {
  path: string
  mode: 0o644 | 0o755
  bytes: number
  /** It is a symbolic link, without content: where it leads, from the folder that it lies in (links.ts). */
  link?: string
}
/** `sha256` of the content, in hex. */
export type ArchiveEntry = ArchiveFile & { sha256: string }

/** Files are executable or not; owners, set-uid and the rest of a mode stay behind. */
export const plainMode = (mode: number): 0o644 | 0o755 => ((mode & 0o100) !== 0 ? 0o755 : 0o644)

const byPath = (a: ArchiveEntry, b: ArchiveEntry): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)

export const sortEntries = <E extends ArchiveEntry>(entries: Iterable<E>): E[] => [...entries].sort(byPath)

/** One name for the same files, however they were packed: sha256, in hex, over sorted path, mode and sha256, or where a link leads. */
export const digestOf = (entries: readonly ArchiveEntry[]): string => {
  const hash = createHash('sha256')
  for (const { path, mode, sha256, link } of sortEntries(entries)) {
    hash.update(link === undefined ? `${path}\0${mode.toString(8)}\0${sha256}\n` : `${path}\0link\0${link}\n`)
  }
  return hash.digest('hex')
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/**
 * What a host says of a folder that holds exactly these files (`holds` in controllers/kinds/app/scripts/parts/listing.sh): sha256, in hex, over
 * what `sha256sum` writes of each, in the order of their bytes, after that the paths of those that are executable, and after that
 * the links and where they lead.
 */
export const listingOf = (entries: readonly ArchiveEntry[]): string => {
  const hash = createHash('sha256')
  const files = entries.filter(({ link }) => link === undefined).sort((a, b) => byBytes(a.path, b.path))
  for (const { path, sha256 } of files) hash.update(`${sha256}  ./${path}\n`)
  for (const { path, mode } of files) if (mode === 0o755) hash.update(`./${path}\n`)
  const links = entries.flatMap(({ path, link }) => (link === undefined ? [] : [`./${path} -> ${link}`]))
  for (const line of links.sort(byBytes)) hash.update(`${line}\n`)
  return hash.digest('hex')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd\ufffe\uffff]/

/** A path without the `./` that tar writes before it and the `/` after a folder. */
export const trimPath = (written: string): string => trimmedEnd(written.replace(/^(?:\.\/+)+/, ''), '/')

/** Why a path is not taken, or null. The root itself (`.` or empty) is no path of a file. */
export const pathFault = (path: string): string | null => {
  const bytes = Buffer.byteLength(path)
  if (bytes > PATH_MAX_BYTES) return `the path has ${bytes} bytes, at most ${PATH_MAX_BYTES}`
  if (!path.isWellFormed() || CONTROL.test(path)) return 'the path holds characters that are not shown'
  if (path.includes('\\')) return 'the path holds a backslash'
  if (path.startsWith('/') || /^[a-z]:/i.test(path) || path.startsWith('~')) return 'the path is absolute'
  const segments = path.split('/')
  if (segments.includes('..')) return 'the path leads out of the upload'
  if (segments.includes('') || segments.includes('.')) return 'the path has an empty segment'
  if (segments.length > PATH_DEPTH_MAX) return `the path is deeper than ${PATH_DEPTH_MAX} folders`
  return segments.every((segment) => Buffer.byteLength(segment) <= SEGMENT_MAX_BYTES)
    ? null
    : `a name in the path has more than ${SEGMENT_MAX_BYTES} bytes`
}

/** How file systems that are blind for case or for composed characters see a path. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase().normalize('NFC')

/**
 * Takes down paths one after the other and says why one cannot stand beside those before: the same path twice, a file where
 * a folder is, or two that some file system takes for one.
 */
export const makePathRegister = (): ((path: string, sort: 'file' | 'folder') => string | null) => {
  const known = new Map<string, { path: string; sort: 'file' | 'folder' }>()
  const enter = (path: string, sort: 'file' | 'folder'): string | null => {
    const key = folded(path)
    const before = known.get(key)
    if (!before) known.set(key, { path, sort })
    if (!before || (before.path === path && sort === 'folder' && before.sort === 'folder')) return null
    if (before.path !== path) return `the path differs from ${before.path} only by case or by the form of a letter`
    return before.sort === sort ? 'the path is there twice' : 'the path is both a file and a folder'
  }
  return (path, sort) => {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const fault = enter(path.slice(0, at), 'folder')
      if (fault !== null) return fault
    }
    return enter(path, sort)
  }
}
