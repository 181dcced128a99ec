/**
 * The files of an upload, read as far as the policy needs: every path checked, every content named by its sha256, the compose file
 * as text. Contents flow by several times instead of lying in memory. All of it is work on what somebody sent: it is done in a
 * thread (reader.ts).
 */
import { createHash } from 'node:crypto'
import { COMPOSE_MAX_CHARS } from '../../../../crds/app/compose/reading/parse.ts'
import { WRITTEN_COMPOSE, type WrittenFile } from '../../../../crds/app/recognise/project.ts'
import {
  projectFolder,
  RECOGNISED_MAX_CHARS,
  recognise,
  wantedTexts,
} from '../../../../crds/app/recognise/recognise.ts'
import { composePathIn, wrappingFolder } from '../../../../crds/app/sources/source.ts'
import { type ArchiveEntry, digestOf, sortEntries } from '../../../../crds/files/archive.ts'
import { pointerSegment } from '../../../../crds/values/pointer.ts'
import { type Files, filesBelow, filesWith, givenFiles } from '../../../io/archive.ts'
import type { RecognisedUpload } from '../upload.ts'
import { refuseUpload as refuse } from './refusal.ts'

/** How the upload lies in what was sent: below one folder of it, with what was written for it. */
export type UploadLayout = { folder: string; written: readonly WrittenFile[] }

/** `texts`: that of the compose file. */
export type UploadContents = {
  entries: ArchiveEntry[]
  layout: UploadLayout
  recognised: RecognisedUpload | null
  composePath: string
  texts: Map<string, string>
  digest: string
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
export const textsOf = async (
  files: Files,
  paths: ReadonlySet<string>,
  maxChars: number,
): Promise<Map<string, string>> => {
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

export const plainFile = ({ path, text }: WrittenFile) => ({ path, mode: 0o644, content: Buffer.from(text, 'utf8') })

/** The files of the upload among those that were sent. */
export const laidOut = (sent: Files, { folder, written }: UploadLayout): Files => {
  const below = filesBelow(sent, folder)
  return written.length === 0 ? below : filesWith(below, givenFiles(written.map(plainFile)))
}

/** @throws Problem, ArchiveRefused */
export const contentsOf = async (sent: Files): Promise<UploadContents> => {
  const all = await entriesOf(sent)
  const folder = folderOf(new Set(all.map(({ path }) => path)))
  const own = all.map((entry) => ({ ...entry, path: entry.path.slice(folder.length) }))
  const project = await recognised(
    filesBelow(sent, folder),
    own.map(({ path }) => path),
  )
  const layout: UploadLayout = { folder, written: project?.files ?? [] }
  const written = await entriesOf(givenFiles(layout.written.map(plainFile)))
  const entries = project === null ? own : sortEntries([...own, ...written])
  const composePath = composePathIn(new Set(entries.map(({ path }) => path))) ?? WRITTEN_COMPOSE
  const texts = await textsOf(laidOut(sent, layout), new Set([composePath]), COMPOSE_MAX_CHARS)
  return { entries, layout, recognised: project, composePath, texts, digest: digestOf(entries) }
}
