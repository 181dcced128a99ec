/** The files of a commit out of the objects of its pack: plain files; what a link leads to is taken in its place. */
import { posix } from 'node:path'
import { ARCHIVE_FILES_MAX, PATH_MAX_BYTES } from '../../../crds/files/archive.ts'
import type { GitObject } from './pack.ts'
import { GitRefused, GitTooLarge } from './packets.ts'

export type GitFile = { path: string; mode: number; content: Buffer }

const DEPTH_MAX = 32
const HASH_BYTES = 20
const LINKS_MAX = 8
/** Each time that one is met: a few folders that name each other are as many files as somebody likes. */
const ENTRIES_MAX = 2 * ARCHIVE_FILES_MAX
const COMMIT_HEAD_BYTES = 64

type Entry = { mode: string; path: string; name: string }

const objectOf = (objects: ReadonlyMap<string, GitObject>, name: string, sort: GitObject['sort']): Buffer => {
  const object = objects.get(name)
  if (object?.sort !== sort) throw new GitRefused('its pack is not whole')
  return object.content
}

/** `<mode> <name>\0<20 bytes>`, one after the other. */
function* entriesOf(tree: Buffer): Generator<{ mode: string; name: string; object: string }> {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at)
    const end = tree.indexOf(0, space)
    if (space < 0 || end < 0 || end + HASH_BYTES >= tree.length + 1) throw new GitRefused('a folder of it is broken')
    yield {
      mode: tree.toString('latin1', at, space),
      name: tree.toString('utf8', space + 1, end),
      object: tree.toString('hex', end + 1, end + 1 + HASH_BYTES),
    }
    at = end + 1 + HASH_BYTES
  }
}

type Walk = { objects: ReadonlyMap<string, GitObject>; found: Entry[]; met: number }

const walk = (going: Walk, tree: string, folder: string, depth: number): void => {
  if (depth > DEPTH_MAX) throw new GitRefused(`it is deeper than ${DEPTH_MAX} folders`)
  for (const { mode, name, object } of entriesOf(objectOf(going.objects, tree, 'tree'))) {
    going.met += 1
    if (going.met > ENTRIES_MAX) throw new GitTooLarge(`it has more than ${ENTRIES_MAX} files and folders`)
    const path = folder + name
    if (path.length > PATH_MAX_BYTES) throw new GitRefused(`a path of it has more than ${PATH_MAX_BYTES} characters`)
    if (mode === '40000') walk(going, object, `${path}/`, depth + 1)
    else if (mode === '160000')
      throw new GitRefused(`${path} is a submodule, which is not fetched; put its files there`)
    else going.found.push({ mode, path, name: object })
  }
}

const entriesBelow = (objects: ReadonlyMap<string, GitObject>, tree: string): Entry[] => {
  const going: Walk = { objects, found: [], met: 0 }
  walk(going, tree, '', 0)
  return going.found
}

/** @throws GitRefused for what is no tree of plain files; GitTooLarge */
export const filesOfCommit = (objects: ReadonlyMap<string, GitObject>, commit: string): GitFile[] => {
  const head = objectOf(objects, commit, 'commit').toString('latin1', 0, COMMIT_HEAD_BYTES)
  const [, tree = ''] = /^tree ([0-9a-f]{40})\n/.exec(head) ?? []
  const entries = new Map(entriesBelow(objects, tree).map((entry) => [entry.path, entry]))
  const fileAt = (path: string, left: number): Entry => {
    const entry = entries.get(path)
    if (!entry || left === 0) throw new GitRefused(`${path} is a link that leads to no file of it`)
    if (entry.mode !== '120000') return entry
    const target = objectOf(objects, entry.name, 'blob').toString('utf8', 0, 2 * PATH_MAX_BYTES)
    return fileAt(posix.normalize(posix.join(posix.dirname(path), target)), left - 1)
  }
  return [...entries.keys()].map((path) => {
    const { mode, name } = fileAt(path, LINKS_MAX)
    return { path, mode: mode === '100755' ? 0o755 : 0o644, content: objectOf(objects, name, 'blob') }
  })
}
