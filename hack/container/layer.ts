import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'

/** One thing in an image, by its path there. Owner, group and time are root and the epoch for all of them. */
export type Entry = { path: string; mode: number } & (
  | { type: 'directory' }
  | { type: 'symlink'; target: string }
  | { type: 'file'; source: string }
  | { type: 'text'; text: string }
)

export type Layer = { file: string; sha256: string; bytes: number }

const epoch = new Date(0)
const executable = 0o755
const readable = 0o644
const wholeBytesMax = 4 * 1024 ** 2

/**
 * The files below `folder` as they shall lie below `path`, without those that `keep` refuses (it is given paths relative
 * to `folder`). Modes are made alike: what a checkout's umask left is no part of an image.
 */
export function entriesOf(folder: string, path: string, keep: (relative: string) => boolean = () => true): Entry[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((found): Entry[] => {
    const source = posix.join(found.parentPath, found.name)
    const relative = posix.relative(folder, source)
    if (!keep(relative)) return []
    const at = posix.join(path, relative)
    if (found.isSymbolicLink()) return [{ type: 'symlink', path: at, mode: 0o777, target: readlinkSync(source) }]
    if (found.isDirectory()) return [{ type: 'directory', path: at, mode: executable }]
    const runs = (statSync(source).mode & 0o100) !== 0
    return found.isFile() ? [{ type: 'file', path: at, mode: runs ? executable : readable, source }] : []
  })
}

/** Writes the entries as one tar, sorted and with the folders above them: the same entries give the same bytes. */
export async function writeLayer(entries: readonly Entry[], file: string): Promise<Layer> {
  const byPath = new Map(entries.flatMap((entry) => parentsOf(entry.path)).map((entry) => [entry.path, entry]))
  for (const entry of entries) byPath.set(entry.path, entry)
  const sorted = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  const { tar, written } = openTar(file)
  for (const entry of sorted) await addEntry(tar, entry)
  tar.finalize()
  return await written
}

function parentsOf(path: string): Entry[] {
  const parent = posix.dirname(path)
  return parent === '.' ? [] : [...parentsOf(parent), { type: 'directory', path: parent, mode: executable }]
}

/** A tar being written to a file, and its digest and size once it is. */
export function openTar(file: string): { tar: Pack; written: Promise<Layer> } {
  const tar = pack()
  const hash = createHash('sha256')
  let bytes = 0
  const measured = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  const written = pipeline(tar, measured, createWriteStream(file)).then(() => ({
    file,
    bytes,
    sha256: hash.digest('hex'),
  }))
  written.catch(() => {}) // whoever adds the next entry meets it too; it is thrown where it is awaited
  return { tar, written }
}

async function addEntry(tar: Pack, entry: Entry): Promise<void> {
  const head = { name: entry.path, mode: entry.mode }
  switch (entry.type) {
    case 'directory':
      return await add(tar, { ...head, type: 'directory' })
    case 'symlink':
      return await add(tar, { ...head, type: 'symlink', linkname: entry.target })
    case 'text':
      return await add(tar, head, Buffer.from(entry.text))
    case 'file':
      return await addFile(tar, head, entry.source)
    default:
      entry satisfies never
  }
}

type Head = { name: string; mode?: number; type?: 'directory' | 'symlink'; linkname?: string }

/** Adds a small entry that is whole in memory. */
export function add(tar: Pack, head: Head, content: Buffer = Buffer.alloc(0)): Promise<void> {
  return new Promise((resolve, reject) => {
    const whole = { mtime: epoch, uid: 0, gid: 0, mode: readable, ...head, size: content.length }
    tar.entry(whole, content, (error) => (error ? reject(error) : resolve()))
  })
}

/** Adds a file of any size. A stream for each of thousands of small ones would cost more than all their bytes. */
export async function addFile(tar: Pack, head: Head, source: string): Promise<void> {
  const { size } = statSync(source)
  if (size <= wholeBytesMax) return await add(tar, head, readFileSync(source))
  const entry = tar.entry({ mtime: epoch, uid: 0, gid: 0, mode: readable, ...head, size })
  await pipeline(createReadStream(source), entry)
}
