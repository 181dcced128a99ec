/**
 * The source of an app as a set of plain files: what an upload is reduced to before anything else looks at it
 * (CONTRACT sections 6 and 10). Only files remain: no links, no devices, no empty folders, no owners, no dates.
 */
import { createHash } from 'node:crypto'

export const SOURCE_FILES_MAX = 20_000
/** All files together, uncompressed. */
export const SOURCE_MAX_BYTES = 400_000_000
export const PATH_MAX_BYTES = 512
/** What file systems take for one name. */
export const PATH_SEGMENT_MAX_BYTES = 255
export const PATH_DEPTH_MAX = 32

/** `path`: relative, `/` between segments, without `.`, `..` or an empty segment. `sha256` in hex. */
export type SourceEntry = { path: string; mode: 0o644 | 0o755; bytes: number; sha256: string }

/** What the policy reads. `texts` holds the compose file and the env files it names; other contents stay where they are. */
export type SourceIndex = {
  /** Sorted by path. */
  entries: readonly SourceEntry[]
  composePath: string
  texts: ReadonlyMap<string, string>
}

/** By these names Compose looks for its file, the first that is there (compose-spec 03, "The Compose file"). */
export const COMPOSE_NAMES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'] as const

const byPath = (a: SourceEntry, b: SourceEntry): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)

export const sortEntries = (entries: Iterable<SourceEntry>): SourceEntry[] => [...entries].sort(byPath)

/** One name for the same files, however they were packed: sha256, in hex, over sorted path, mode and sha256. */
export const digestOf = (entries: readonly SourceEntry[]): string => {
  const hash = createHash('sha256')
  for (const { path, mode, sha256 } of sortEntries(entries)) hash.update(`${path}\0${mode.toString(8)}\0${sha256}\n`)
  return hash.digest('hex')
}

/** Which file is the project's compose file, or null when there is none at the root. */
export const composePathIn = (paths: ReadonlySet<string>): string | null =>
  COMPOSE_NAMES.find((name) => paths.has(name)) ?? null
