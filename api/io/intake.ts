/** What is taken of many files, each seen before its content is: their paths, how many there are, how much it is in all. */
import {
  ARCHIVE_FILES_MAX,
  ARCHIVE_MAX_BYTES,
  type ArchiveFile,
  makePathRegister,
  pathFault,
} from '../../crds/files/archive.ts'
import { pointerSegment } from '../../crds/values/pointer.ts'
import type { PathFault } from './links.ts'

/** Folders, too, take a header each. */
export const ENTRIES_MAX = 2 * ARCHIVE_FILES_MAX

const sayOf = ({ path, detail }: PathFault): string => `${JSON.stringify(path.slice(0, 200))}: ${detail}`

/** The upload is not taken. `pointer`: `/files/` and the path, as in the JSON form of an upload; none for the whole. */
export class ArchiveRefused extends Error {
  readonly code: 'BAD_ARCHIVE' | 'UNSAFE_PATH' | 'ARCHIVE_TOO_LARGE'
  readonly faults: { pointer: string; detail: string }[]
  /** @param more of the same sort, at other paths */
  constructor(code: ArchiveRefused['code'], detail: string, path?: string, more: readonly PathFault[] = []) {
    super(path === undefined ? detail : sayOf({ path, detail }))
    this.name = 'ArchiveRefused'
    this.code = code
    const all = path === undefined ? [] : [{ path, detail }, ...more]
    this.faults = all.map((fault) => ({
      pointer: `/files/${pointerSegment(fault.path.slice(0, 512))}`,
      detail: sayOf(fault),
    }))
  }
}

/** Checks one file after the other against what is taken in all. */
export const makeIntake = () => {
  const enter = makePathRegister()
  let files = 0
  let entries = 0
  let bytes = 0
  const checkPath = (path: string, sort: 'file' | 'folder'): void => {
    if (++entries > ENTRIES_MAX) throw new ArchiveRefused('ARCHIVE_TOO_LARGE', `more than ${ENTRIES_MAX} entries`)
    const fault = pathFault(path) ?? enter(path, sort)
    if (fault !== null) throw new ArchiveRefused('UNSAFE_PATH', `${fault}.`, path)
  }
  const more = (path: string, size: number): void => {
    bytes += size
    if (bytes <= ARCHIVE_MAX_BYTES) return
    const detail = `the files have more than ${ARCHIVE_MAX_BYTES} bytes together.`
    throw new ArchiveRefused('ARCHIVE_TOO_LARGE', detail, path)
  }
  return {
    folder: (path: string) => checkPath(path, 'folder'),
    file({ path, bytes: size }: ArchiveFile) {
      checkPath(path, 'file')
      files += 1
      if (files > ARCHIVE_FILES_MAX)
        throw new ArchiveRefused('ARCHIVE_TOO_LARGE', `more than ${ARCHIVE_FILES_MAX} files`)
      more(path, size)
    },
    /** A file whose path was checked before is as large as this. */
    more,
  }
}
