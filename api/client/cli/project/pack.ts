/**
 * A folder as a gzip-compressed tar in a file of its own, so that it can be sent again byte for byte when a connection is lost. The
 * same files give the same bytes: no times, no owners, sorted. Nothing is held in memory but the file that is being read.
 */
import { createReadStream, createWriteStream, type Stats } from 'node:fs'
import { lstat, mkdtemp, readdir, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack as makePack, type Pack } from 'tar-stream'
import { UsageFault } from '../net/outcome.ts'
import type { UploadFile } from '../net/send.ts'
import { bytesWords } from '../show/words.ts'
import { type IgnoreLevel, type LeftBy, makeLeaving } from './ignored.ts'

/** What the API takes (rules/platform.md#bodies). */
export const UPLOAD_MOST_BYTES = 100_000_000
const FILES_MOST = 100_000

type Found = { path: string; mode: number; bytes: number; link: string | null }
/** What was not sent, by the file that says so; the paths of what is never sent, for they are told. */
export type LeftOut = { by: LeftBy; count: number; paths: readonly string[] }

export type PackedProject = {
  file: UploadFile
  files: number
  /** Before compression. */
  sourceBytes: number
  left: readonly LeftOut[]
  /** Removes the file. */
  drop(): Promise<void>
}

type Walk = { found: Found[]; left: Map<LeftBy, string[]> }

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const leave = ({ left }: Walk, by: LeftBy, path: string): void => {
  const known = left.get(by) ?? []
  left.set(by, known)
  known.push(path)
}

/** A file or a link that is sent. */
const keep = async ({ found }: Walk, root: string, path: string, info: Stats): Promise<void> => {
  const link = info.isSymbolicLink() ? await readlink(join(root, path)) : null
  found.push({ path, mode: info.mode & 0o100 ? 0o755 : 0o644, bytes: link === null ? info.size : 0, link })
  if (found.length > FILES_MOST) throw new UsageFault(`There are more than ${FILES_MOST} files below ${root}.`)
}

const findFiles = async (root: string, include: readonly string[]): Promise<Walk> => {
  const leaving = makeLeaving(root, include)
  const walk: Walk = { found: [], left: new Map() }
  const take = async (path: string, levels: readonly IgnoreLevel[]): Promise<void> => {
    const info = await lstat(join(root, path))
    const isFolder = info.isDirectory()
    const by = leaving.leftBy(levels, path, isFolder)
    const isEntered = isFolder && (by === null || (by !== 'never sent' && leaving.mayHold(path)))
    if (isEntered) await enter(path, levels)
    else if (by !== null) leave(walk, by, path)
    else if (info.isFile() || info.isSymbolicLink()) await keep(walk, root, path, info)
    else leave(walk, 'no plain file', path)
  }
  const enter = async (folder: string, above: readonly IgnoreLevel[]): Promise<void> => {
    const levels = leaving.enter(above, join(root, folder))
    const names = await readdir(join(root, folder))
    for (const name of names.sort(byBytes)) await take(folder === '' ? name : `${folder}/${name}`, levels)
  }
  await enter('', leaving.above)
  return walk
}

/** The folders at the root that weigh most, for whoever sends too much. */
const heaviest = (found: readonly Found[]): string => {
  const weights = new Map<string, number>()
  for (const { path, bytes } of found) {
    const first = path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : path
    weights.set(first, (weights.get(first) ?? 0) + bytes)
  }
  const most = [...weights].sort(([, a], [, b]) => b - a).slice(0, 3)
  return most.map(([name, bytes]) => `${name} ${bytesWords(bytes)}`).join(', ')
}

const addFile = async (pack: Pack, root: string, { path, mode, bytes, link }: Found): Promise<void> => {
  const head = { name: path, mode, mtime: new Date(0), uid: 0, gid: 0 }
  if (link !== null) {
    pack.entry({ ...head, type: 'symlink', linkname: link })
    return
  }
  const entry = pack.entry({ ...head, size: bytes }) as unknown as NodeJS.WritableStream
  if (bytes === 0) {
    entry.end()
    return
  }
  const changed = new UsageFault(`${path} changed while it was packed. Run it again.`)
  await pipeline(createReadStream(join(root, path), { end: bytes - 1 }), entry).catch((error: Error) => {
    throw /size/i.test(error.message) ? changed : error
  })
}

const addAll = async (pack: Pack, root: string, found: readonly Found[], onFile: (done: number) => void) => {
  try {
    for (const [at, file] of found.entries()) {
      await addFile(pack, root, file)
      onFile(at + 1)
    }
    pack.finalize()
  } catch (error) {
    pack.destroy(error as Error)
  }
}

/** Ends a pack that has become too large, instead of filling the disk with it. */
const makeScale = (found: readonly Found[]): Transform => {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes <= UPLOAD_MOST_BYTES) return done(null, chunk)
      const most = bytesWords(UPLOAD_MOST_BYTES)
      const what = `The project is larger than ${most} when it is packed; most is in ${heaviest(found)}.`
      done(new UsageFault(`${what} Name in .gitignore what a build makes or fetches itself.`))
    },
  })
}

/**
 * @param include paths that are sent although .gitignore or .dockerignore leaves them out
 * @throws UsageFault when there is no such folder, nothing to send, or too much
 */
export const packProject = async (
  root: string,
  { include, onFile }: { include: readonly string[]; onFile(done: number, of: number): void },
): Promise<PackedProject> => {
  const info = await stat(root).catch(() => null)
  if (!info?.isDirectory()) throw new UsageFault(`${root} is no folder.`)
  const { found, left } = await findFiles(root, include)
  if (found.length === 0) throw new UsageFault(`There is nothing to send below ${root}: all of it is left out.`)
  const folder = await mkdtemp(join(tmpdir(), 'bottega-upload-'))
  const drop = () => rm(folder, { recursive: true, force: true })
  const path = join(folder, 'project.tar.gz')
  try {
    const pack = makePack()
    const adding = addAll(pack, root, found, (done) => onFile(done, found.length))
    const out = createWriteStream(path, { mode: 0o600 })
    await pipeline(pack as unknown as NodeJS.ReadableStream, createGzip(), makeScale(found), out)
    await adding
  } catch (error) {
    await drop()
    throw error
  }
  return {
    file: { path, bytes: (await stat(path)).size },
    files: found.length,
    sourceBytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    left: [...left].map(([by, paths]) => ({ by, count: paths.length, paths: by === 'never sent' ? paths : [] })),
    drop,
  }
}
