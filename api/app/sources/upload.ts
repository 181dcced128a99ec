/**
 * The project that a deploy sends, as a gzip-compressed tar or as JSON (rules/app.md#upload), read as far as the policy needs:
 * every path checked, every content named by its sha256, the compose file and its env files as text. Nothing is stored.
 *
 * One folder around everything, as packing a folder gives, is taken off. Contents flow by several times instead of lying in
 * memory: beside the body itself an upload costs its index, and when it is packed the packed bytes.
 */
import { createHash } from 'node:crypto'
import { BLOB_MAX_BYTES } from '../../../controllers/store/blobs.ts'
import { ENV_FILE_MAX_CHARS } from '../../../crds/app/compose/reading/dotenv.ts'
import { COMPOSE_MAX_CHARS } from '../../../crds/app/compose/reading/parse.ts'
import { type ProjectKind, WRITTEN_COMPOSE, type WrittenFile } from '../../../crds/app/recognise/project.ts'
import { projectFolder, RECOGNISED_MAX_CHARS, recognise, wantedTexts } from '../../../crds/app/recognise/recognise.ts'
import type { GitOrigin } from '../../../crds/app/sources/source.ts'
import { COMPOSE_NAMES, composePathIn, type SourceIndex, wrappingFolder } from '../../../crds/app/sources/source.ts'
import { type ArchiveEntry, digestOf, sortEntries } from '../../../crds/files/archive.ts'
import { pointerSegment } from '../../../crds/values/pointer.ts'
import { Problem } from '../../http/problem.ts'
import { jsonOf } from '../../http/reading/json.ts'
import { ArchiveRefused, type Files, filesBelow, filesWith, givenFiles, packFiles, tarFiles } from '../../io/archive.ts'

/** As sent, in either form (rules/platform.md#bodies). */
export const UPLOAD_MAX_BYTES = 100_000_000

/** Paths of the files that are read as texts beside the compose file, which names them. */
export type NamedFilesOf = (source: SourceIndex) => Promise<string[]>

/** What was written for a project without a compose file, and why (rules/app.md#recognised-projects). */
export type RecognisedUpload = { kind: ProjectKind; why: string[]; files: WrittenFile[] }

export type Upload = {
  index: SourceIndex
  /** Null where the upload has its own compose file. */
  recognised: RecognisedUpload | null
  /** The repository that it was fetched from. */
  git?: GitOrigin
  /** Names the same files, however they were packed: sha256 in hex. */
  digest: string
  bytes: number
  files: number
  /** The files as one compressed tar of our own, to be kept as a blob; null where it is kept. @throws Problem ARCHIVE_TOO_LARGE */
  pack: (() => Promise<Buffer>) | null
}

const GZIP = /^application\/(gzip|x-gzip|x-tar\+gzip|x-gtar|octet-stream)\s*(;|$)/i
const MODES: Readonly<Record<string, number>> = { '644': 0o644, '0644': 0o644, '755': 0o755, '0755': 0o755 }
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const refuse = (code: 'BAD_ARCHIVE' | 'NO_COMPOSE_FILE', pointer: string, detail: string): never => {
  throw new Problem(code, detail, { faults: [{ code, pointer, detail }] })
}

/** A refusal of the archive as the answer that REST gives. */
const asProblem = (error: unknown): unknown => {
  if (!(error instanceof ArchiveRefused)) return error
  const { code, faults, message } = error
  return new Problem(code, message, faults.length === 0 ? {} : { faults: faults.map((fault) => ({ code, ...fault })) })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const decoded = (pointer: string, text: unknown): Buffer => {
  if (typeof text !== 'string' || text.length % 4 !== 0 || !BASE64.test(text)) {
    return refuse('BAD_ARCHIVE', pointer, 'The content is not base64, with its padding.')
  }
  return Buffer.from(text, 'base64')
}

const knownKeys = (value: Record<string, unknown>, known: readonly string[], pointer: string): void => {
  const extra = Object.keys(value).find((key) => !known.includes(key))
  if (extra === undefined) return
  const detail = `There is no field ${JSON.stringify(extra.slice(0, 60))}; known are ${known.join(' and ')}.`
  const at = `${pointer}/${pointerSegment(extra.slice(0, 128))}`
  throw new Problem('UNKNOWN_FIELD', detail, { faults: [{ code: 'UNKNOWN_FIELD', pointer: at, detail }] })
}

/** `files`: path → base64, or `{base64, mode}`. */
const givenFile = (path: string, value: unknown): { path: string; mode: number; content: Buffer } => {
  const pointer = `/files/${pointerSegment(path.slice(0, 512))}`
  if (!isRecord(value)) return { path, mode: 0o644, content: decoded(pointer, value) }
  knownKeys(value, ['base64', 'mode'], pointer)
  const mode = value.mode === undefined ? 0o644 : MODES[String(value.mode)]
  if (mode === undefined) return refuse('BAD_ARCHIVE', `${pointer}/mode`, 'The mode is neither "644" nor "755".')
  return { path, mode, content: decoded(`${pointer}/base64`, value.base64) }
}

const plainFile = ({ path, text }: WrittenFile) => ({ path, mode: 0o644, content: Buffer.from(text, 'utf8') })

const jsonFiles = (body: unknown): Files => {
  if (!isRecord(body)) return refuse('BAD_ARCHIVE', '', 'The body is no object with compose and files.')
  knownKeys(body, ['compose', 'files'], '')
  const { compose, files = {} } = body
  if (compose !== undefined && typeof compose !== 'string')
    return refuse('NO_COMPOSE_FILE', '/compose', 'compose is the text of the compose file.')
  if (!isRecord(files)) return refuse('BAD_ARCHIVE', '/files', 'files is an object of paths.')
  const given = Object.entries(files).map(([path, value]) => givenFile(path, value))
  if (compose === undefined) return givenFiles(given)
  const twice = COMPOSE_NAMES.find((name) => Object.hasOwn(files, name))
  if (twice) return refuse('BAD_ARCHIVE', `/files/${twice}`, 'The compose file is given twice.')
  return givenFiles([plainFile({ path: WRITTEN_COMPOSE, text: compose }), ...given])
}

const bodyFiles = async (form: Buffer | undefined, contentType: string | undefined): Promise<Files> => {
  const sent = form ?? Buffer.alloc(0)
  if (!GZIP.test(contentType ?? '')) return jsonFiles(await jsonOf(sent, contentType))
  if (sent.length === 0) return refuse('BAD_ARCHIVE', '', 'The body is empty.')
  return tarFiles(sent)
}

const entriesOf = async (files: Files): Promise<ArchiveEntry[]> => {
  const entries: ArchiveEntry[] = []
  await files.each(async (file, content) => {
    const hash = createHash('sha256')
    for await (const chunk of content) hash.update(chunk)
    entries.push({ ...file, sha256: hash.digest('hex') })
  })
  return sortEntries(entries)
}

const textOf = (path: string, bytes: Buffer, isCut: boolean): string => {
  try {
    return new TextDecoder('utf-8', { fatal: !isCut }).decode(bytes)
  } catch {
    return refuse('BAD_ARCHIVE', `/files/${pointerSegment(path)}`, `${path} is not text in UTF-8.`)
  }
}

/** The texts of some files, in UTF-8; what is longer than `maxChars` is cut there, so that the policy sees it is too long. */
const textsOf = async (files: Files, paths: ReadonlySet<string>, maxChars: number): Promise<Map<string, string>> => {
  const texts = new Map<string, string>()
  if (paths.size === 0) return texts
  await files.each(async ({ path }, content) => {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of content) {
      if (paths.has(path) && bytes <= maxChars * 4) chunks.push(chunk)
      bytes += chunk.length
    }
    if (!paths.has(path)) return
    const text = textOf(path, Buffer.concat(chunks), bytes > maxChars * 4)
    texts.set(path, text.slice(0, maxChars + 1))
  })
  return texts
}

/** What stands where a file is to be written, or would be the same to some file system. */
const clashOf = (paths: readonly string[], written: readonly WrittenFile[]): string | undefined =>
  paths.find((path) =>
    written.some((one) => {
      const folded = path.toLowerCase()
      const name = one.path.toLowerCase()
      return folded === name || folded.startsWith(`${name}/`)
    }),
  )

/** What is written for files that have no compose file of their own; null where they have. @throws Problem NO_COMPOSE_FILE */
const recognised = async (files: Files, paths: readonly string[]): Promise<RecognisedUpload | null> => {
  const known = new Set(paths)
  if (composePathIn(known) !== null) return null
  const texts = await textsOf(files, new Set(wantedTexts(known)), RECOGNISED_MAX_CHARS)
  const recognition = recognise({ paths: known, texts })
  if (!recognition.ok) return refuse('NO_COMPOSE_FILE', '/files', recognition.detail)
  const clash = clashOf(paths, recognition.project.files)
  if (clash === undefined) return recognition.project
  const detail = `${clash} stands where a file is to be written for this project. Rename it, or add a compose file.`
  return refuse('NO_COMPOSE_FILE', `/files/${pointerSegment(clash)}`, detail)
}

const folderOf = (paths: ReadonlySet<string>): string =>
  wrappingFolder(paths) || (composePathIn(paths) === null ? projectFolder(paths) : '')

const read = async (sent: Files, namedFiles: NamedFilesOf): Promise<Upload> => {
  const all = await entriesOf(sent)
  const folder = folderOf(new Set(all.map(({ path }) => path)))
  const own = all.map((entry) => ({ ...entry, path: entry.path.slice(folder.length) }))
  const below = filesBelow(sent, folder)
  const project = await recognised(
    below,
    own.map(({ path }) => path),
  )
  const written = givenFiles((project?.files ?? []).map(plainFile))
  const files = project === null ? below : filesWith(below, written)
  const entries = project === null ? own : sortEntries([...own, ...(await entriesOf(written))])
  const composePath = composePathIn(new Set(entries.map(({ path }) => path))) ?? WRITTEN_COMPOSE
  const compose = await textsOf(files, new Set([composePath]), COMPOSE_MAX_CHARS)
  const named = await namedFiles({ entries, composePath, texts: compose })
  // A Dockerfile has the same limit (RECIPE_MAX_CHARS).
  const envs = await textsOf(files, new Set(named), ENV_FILE_MAX_CHARS)
  const pack = () =>
    packFiles(files, BLOB_MAX_BYTES).catch((error: unknown) => {
      throw asProblem(error)
    })
  return {
    index: { entries, composePath, texts: new Map([...compose, ...envs]) },
    recognised: project,
    digest: digestOf(entries),
    bytes: entries.reduce((sum, entry) => sum + entry.bytes, 0),
    files: entries.length,
    pack,
  }
}

/** Files that came otherwise than in a body, read as an upload. @throws Problem as `readUpload` */
export const readFiles = (files: Files, namedFiles: NamedFilesOf): Promise<Upload> =>
  read(files, namedFiles).catch((error: unknown) => {
    throw asProblem(error)
  })

/**
 * Reads an upload.
 * @param namedFiles which files the compose file names as env files and Dockerfiles, for that app on that host
 * @throws Problem BAD_ARCHIVE, UNSAFE_PATH, ARCHIVE_TOO_LARGE, NO_COMPOSE_FILE, each with the path as its pointer;
 *   UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, UNKNOWN_FIELD for a body of neither form
 */
export const readUpload = async (
  { form, contentType }: { form: Buffer | undefined; contentType: string | undefined },
  namedFiles: NamedFilesOf,
): Promise<Upload> => {
  try {
    return await read(await bodyFiles(form, contentType), namedFiles)
  } catch (error) {
    throw asProblem(error)
  }
}
