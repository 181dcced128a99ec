/**
 * The project that a deploy sends, as a gzip-compressed tar or as JSON (rules/app.md#upload), read as far as the policy needs:
 * every path checked, every content named by its sha256, the compose file and its env files as text. Nothing is stored.
 *
 * One folder around everything, as packing a folder gives, is taken off. Beside the body itself an upload costs its index, and when
 * it is packed the packed bytes (reading/reader.ts).
 */
import type { ProjectKind, WrittenFile } from '../../../crds/app/recognise/project.ts'
import type { GitOrigin, SourceIndex } from '../../../crds/app/sources/source.ts'

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
