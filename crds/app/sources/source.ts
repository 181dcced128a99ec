/** The source of an app: the files of one upload, and what the policy reads of them (rules/app.md#upload). */
import type { ArchiveEntry } from '../../files/archive.ts'

export type SourceEntry = ArchiveEntry

/** A branch, a tag or a commit of a repository, over https. */
export type GitNamed = { url: string; ref: string }
/** Where an upload was fetched from. */
export type GitOrigin = GitNamed & { commit: string }

/** What the policy reads. `texts` holds the compose file and the env files it names; other contents stay where they are. */
export type SourceIndex = {
  /** Sorted by path. */
  entries: readonly SourceEntry[]
  composePath: string
  texts: ReadonlyMap<string, string>
}

/** By these names Compose looks for its file, the first that is there (compose-spec 03, "The Compose file"). */
export const COMPOSE_NAMES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'] as const

/** Which file is the project's compose file, or null when there is none at the root. */
export const composePathIn = (paths: ReadonlySet<string>): string | null =>
  COMPOSE_NAMES.find((name) => paths.has(name)) ?? null

/**
 * The one folder that everything lies in, as `my-app/`, when the compose file is in there and not at the root: what
 * packing a folder from outside gives. Otherwise ''.
 */
export const wrappingFolder = (paths: ReadonlySet<string>): string => {
  if (composePathIn(paths) !== null) return ''
  const [first = ''] = paths
  const folder = first.slice(0, first.indexOf('/') + 1)
  if (folder === '' || ![...paths].every((path) => path.startsWith(folder))) return ''
  return COMPOSE_NAMES.some((name) => paths.has(folder + name)) ? folder : ''
}

/** An index as bytes, and back; JSON has no maps, so the texts are pairs. */
export const packIndex = ({ texts, ...rest }: SourceIndex): Buffer =>
  Buffer.from(JSON.stringify({ ...rest, texts: [...texts].sort() }), 'utf8')

export const openIndex = (bytes: Buffer): SourceIndex => {
  const { texts, ...rest } = JSON.parse(bytes.toString('utf8')) as Omit<SourceIndex, 'texts'> & {
    texts: [string, string][]
  }
  return { ...rest, texts: new Map(texts) }
}
