/**
 * Many files as one stream of bytes: reading a tar that somebody sent, which is never believed, and writing one of our own.
 * Contents flow by and are never all in memory; every limit holds while they flow, so that a bomb is left at its first spark.
 */
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { type Extract, extract, type Header, pack } from 'tar-stream'
import { ARCHIVE_MAX_BYTES, type ArchiveFile, PATH_MAX_BYTES, plainMode, trimPath } from '../../crds/files/archive.ts'
import { ArchiveRefused, ENTRIES_MAX, makeIntake } from './intake.ts'
import { type SettledLinks, settle, type TarFound } from './links.ts'

const HEADER_MAX_BYTES = 2048
const UNPACKED_MAX_BYTES = ARCHIVE_MAX_BYTES + ENTRIES_MAX * HEADER_MAX_BYTES
/** Sources shrink to a fifth, logs to a twentieth; what shrinks more, and is large, is a bomb. */
const RATIO_MAX = 200
const RATIO_FREE_BYTES = 16_777_216
const CHUNK_BYTES = 65_536
const NAME_MAX_CHARS = 2 * PATH_MAX_BYTES
const GZIP_LEVEL = 4
/** The same for every file, so that the same files are the same bytes. On a host they are given that of their release. */
const MTIME = new Date('1985-10-26T08:15:00Z')

export type Visit = (file: ArchiveFile, content: AsyncIterable<Buffer>) => Promise<void>

/** Files that can be gone through as often as needed, each time the same. */
export type Files = { each(visit: Visit): Promise<void> }

const SORTS: Readonly<Record<string, string>> = {
  'character-device': 'a device',
  'block-device': 'a device',
  fifo: 'a pipe',
}

type Entry = Extract extends AsyncIterable<infer E> ? E : never

/** Why it is neither file, folder nor link; null when it is one. */
const sortFault = ({ type, pax, size = 0 }: Header): string | null => {
  const sparse = Object.keys(pax ?? {}).some((name) => name.startsWith('GNU.sparse'))
  const isEmpty = type === 'directory' || type === 'symlink' || type === 'link'
  if (isEmpty && size === 0) return null
  if ((type === 'file' || type === 'contiguous-file') && !sparse) return null
  const sort = sparse ? 'a file with holes' : (SORTS[String(type)] ?? 'of a sort that is not known')
  return `it is ${sort}; files, folders and links within the upload are taken.`
}

/** Counts what comes out of the compression. */
const meter = (sentBytes: number) =>
  async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > UNPACKED_MAX_BYTES || bytes > Math.max(RATIO_FREE_BYTES, sentBytes * RATIO_MAX)) {
        const detail = `${sentBytes} bytes unpack to more than ${bytes}; at most ${ARCHIVE_MAX_BYTES}, and ${RATIO_MAX} times as much.`
        throw new ArchiveRefused('ARCHIVE_TOO_LARGE', detail)
      }
      yield chunk
    }
  }

const asRefusal = (error: unknown): unknown => {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const message = (error as Error).message ?? ''
  if (/^Z_|^ERR_STREAM_PREMATURE_CLOSE/.test(code))
    return new ArchiveRefused('BAD_ARCHIVE', 'It is not gzip, or cut short.')
  const ofTar = /^(Invalid tar header|Invalid header|Header exceeds|Unexpected end of data|Invalid pax)/.test(message)
  return ofTar ? new ArchiveRefused('BAD_ARCHIVE', `It is no tar: ${message.slice(0, 80)}.`) : error
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

const FAULTS_MAX = 100
/** What is neither file, folder nor link is told with all others, once everything has flowed by. */
const noteFault = ({ faults }: TarFound, path: string, detail: string, size: number): void => {
  // Whoever reads past it takes its content for what comes next.
  if (size > 0) throw new ArchiveRefused('BAD_ARCHIVE', detail, path)
  if (faults.length < FAULTS_MAX) faults.push({ path, detail })
}

const noteLink = ({ intake, found }: Taking, path: string, { type, linkname }: Header): void => {
  const link = (linkname ?? '').slice(0, NAME_MAX_CHARS)
  intake.file({ path, mode: 0o644, bytes: 0 })
  if (type === 'symlink') found.links.push({ path, link })
  else found.twins.push({ path, of: trimPath(link) })
}

const isRoot = (path: string): boolean => path === '' || path === '.'

const takeEntry = async (entry: Entry, taking: Taking): Promise<void> => {
  const { intake, found, visit } = taking
  const { name, mode = 0o644, size = 0, type } = entry.header
  // Headers hold names of megabytes: nothing is done with such a one.
  if (name.length > NAME_MAX_CHARS) throw new ArchiveRefused('UNSAFE_PATH', 'the path is too long.', name)
  const path = trimPath(name)
  const fault = sortFault(entry.header)
  if (fault === null && (type === 'file' || type === 'contiguous-file')) {
    const file: ArchiveFile = { path, mode: plainMode(mode), bytes: size }
    intake.file(file)
    found.files.set(path, size)
    await visit(file, entry as AsyncIterable<Buffer>)
    return
  }
  if (fault !== null) noteFault(found, path, fault, size)
  else if (type !== 'directory') noteLink(taking, path, entry.header)
  else if (!isRoot(path)) intake.folder(path)
  entry.resume()
}

type Taking = { intake: ReturnType<typeof makeIntake>; found: TarFound; visit: Visit }

/** Lets the entries of a tar flow by. */
const flowThrough = async (sent: Buffer, take: (entry: Entry) => Promise<void>): Promise<void> => {
  const entries = extract()
  const flow = pipeline(
    Readable.from(slices(sent), { objectMode: false }),
    createGunzip(),
    meter(sent.length),
    entries as unknown as Writable,
  )
  // The reader of the entries sees the failure, too; this one comes first when there are none.
  const flowed = flow.then(
    () => undefined,
    (error: unknown) => error,
  )
  try {
    for await (const entry of entries) await take(entry)
  } catch (error) {
    entries.destroy()
    const first = await flowed
    throw error instanceof ArchiveRefused ? error : asRefusal(first instanceof ArchiveRefused ? first : error)
  }
  const failed = await flowed
  if (failed !== undefined) throw asRefusal(failed)
}

const settled = (found: TarFound): SettledLinks => {
  const all = settle(found)
  const [first, ...more] = all.faults
  if (first) throw new ArchiveRefused('BAD_ARCHIVE', first.detail, first.path, more.slice(0, FAULTS_MAX))
  return all
}

/** Gives out the files that have several names under the others, in a second pass. */
const visitTwins = (sent: Buffer, byFile: ReadonlyMap<string, readonly string[]>, taking: Taking): Promise<void> =>
  flowThrough(sent, async (entry) => {
    const { name, mode = 0o644, size = 0, type } = entry.header
    const isFile = type === 'file' || type === 'contiguous-file'
    const others = isFile ? (byFile.get(trimPath(name)) ?? []) : []
    if (others.length === 0) {
      entry.resume()
      return
    }
    const content: Buffer[] = []
    for await (const chunk of entry as AsyncIterable<Buffer>) content.push(chunk)
    for (const path of others) {
      taking.intake.more(path, size)
      await taking.visit({ path, mode: plainMode(mode), bytes: size }, Readable.from(content))
    }
  })

/**
 * The files of a gzip-compressed tar; links within it come last, hard ones as the files that they are.
 * @throws ArchiveRefused out of `each`, for whatever is not a plain file or a link to one at a plain path, or too much
 */
export const tarFiles = (sent: Buffer): Files => ({
  async each(visit) {
    const found: TarFound = { files: new Map(), links: [], twins: [], faults: [] }
    const taking: Taking = { intake: makeIntake(), found, visit }
    await flowThrough(sent, (entry) => takeEntry(entry, taking))
    const { byFile, links } = settled(found)
    if (byFile.size > 0) await visitTwins(sent, byFile, taking)
    for (const { path, link } of links) await visit({ path, mode: 0o644, bytes: 0, link }, Readable.from([]))
  },
})

/** A file whose content can be gone through as often as needed. */
export type FlowingFile = { path: string; mode: number; bytes: number; content(): Iterable<Buffer> }

/** @throws ArchiveRefused out of `each` */
export const flowingFiles = (given: readonly FlowingFile[]): Files => ({
  async each(visit) {
    const intake = makeIntake()
    for (const { path, mode, bytes, content } of given) {
      const file: ArchiveFile = { path, mode: plainMode(mode), bytes }
      intake.file(file)
      await visit(file, Readable.from(content()))
    }
  },
})

/** Files that are in memory already. @throws ArchiveRefused out of `each` */
export const givenFiles = (given: readonly { path: string; mode: number; content: Buffer }[]): Files =>
  flowingFiles(
    given.map(({ content, ...file }) => ({
      ...file,
      bytes: content.length,
      content: () => (content.length > 0 ? [content] : []),
    })),
  )

/** The same files below one folder of theirs, without its name. @param folder as `my-app/`; '' for all */
export const filesBelow = (files: Files, folder: string): Files => ({
  each: (visit) => files.each((file, content) => visit({ ...file, path: file.path.slice(folder.length) }, content)),
})

/** The same files, and after them some more. */
export const filesWith = (files: Files, more: Files): Files => ({
  async each(visit) {
    await files.each(visit)
    await more.each(visit)
  },
})

/**
 * The files as a tar of our own, compressed: the same bytes for the same files in the same order.
 * @throws ArchiveRefused when it has more than `maxBytes`
 */
export const packFiles = async (files: Files, maxBytes: number): Promise<Buffer> => {
  const tar = pack()
  const chunks: Buffer[] = []
  let bytes = 0
  const collect = async (packed: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of packed) {
      bytes += chunk.length
      if (bytes > maxBytes)
        throw new ArchiveRefused('ARCHIVE_TOO_LARGE', `it has more than ${maxBytes} bytes compressed.`)
      chunks.push(chunk)
    }
  }
  const flow = pipeline(tar as unknown as Readable, createGzip({ level: GZIP_LEVEL }), collect)
  const write: Visit = async ({ path, mode, bytes: size, link }, content) => {
    const all = { name: path, mode, size, mtime: MTIME, uid: 0, gid: 0 }
    const entry = tar.entry(link === undefined ? { ...all, type: 'file' } : { ...all, type: 'symlink', linkname: link })
    await pipeline(content, entry as unknown as Writable)
  }
  const fill = files.each(write).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error as Error),
  )
  await Promise.all([fill, flow])
  return Buffer.concat(chunks, bytes)
}
