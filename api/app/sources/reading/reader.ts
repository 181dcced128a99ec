/**
 * Reads uploads in threads of their own: what a caller sends, or has fetched, may be slow to unpack and to hash, and the loop serves
 * everybody. Accounts take turns, none has two threads; what needs more than it may take is refused as too large (rules/app.md#upload).
 * Bytes are handed over and back, never copied. What is unpacked of a pack lies in memory as a whole, so packs have one thread.
 */
import {
  type Asker,
  makeThreads,
  type ThreadLimits,
  type Threads,
  TooDear,
} from '../../../../controllers/base/threads/pool.ts'
import { BLOB_MAX_BYTES } from '../../../../controllers/store/blobs.ts'
import { ENV_FILE_MAX_CHARS } from '../../../../crds/app/compose/reading/dotenv.ts'
import { Problem, tooMany } from '../../../http/problem.ts'
import { makeGate } from '../../../http/reading/gate.ts'
import type { NamedFilesOf, Upload } from '../upload.ts'
import type { ReadJob, ReadUpload, SentUpload, UploadPart, UploadQuestion } from './job.ts'
import { refuseUpload } from './refusal.ts'

/** The largest that is taken, 400 MB in 20,000 files, takes three seconds of CPU to be read and as many to be packed. */
export const READ_LIMITS: ThreadLimits = {
  threads: 2,
  accountThreadsMax: 1,
  queueMax: 64,
  accountUnitsMax: 16,
  waitMaxMs: 30_000,
  cpuMaxMs: 20_000,
  wallMaxMs: 120_000,
  heapMaxMib: 128,
  memoryMaxMib: 256,
  idleMaxMs: 60_000,
}

/** A pack of 50 MB, and 150 MB that come out of it. */
export const PACK_LIMITS: ThreadLimits = { ...READ_LIMITS, threads: 1, memoryMaxMib: 320 }

/** A unit of work: what it costs is known by its length. */
const UNIT_BYTES = 8_000_000
const FETCHES_PER_ACCOUNT = 2
const FETCHES_MAX = 16
const BUSY_RETRY_MS = 2_000

const ENTRY = new URL('./thread.ts', import.meta.url)
const GZIP = /^application\/(gzip|x-gzip|x-tar\+gzip|x-gtar|octet-stream)\s*(;|$)/i

export type UploadReader = {
  /**
   * Reads an upload. What it is given it takes away: nobody else has the bytes then.
   * @param namedFiles which files the compose file names as env files and Dockerfiles, for that app on that host
   * @throws Problem BAD_ARCHIVE, UNSAFE_PATH, ARCHIVE_TOO_LARGE, NO_COMPOSE_FILE, each with the path as its pointer; GIT_FAILED;
   *   UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, UNKNOWN_FIELD for a body of neither form; TOO_MANY_REQUESTS when too much waits
   */
  read(sent: SentUpload, asker: Asker, namedFiles: NamedFilesOf): Promise<Upload>
  /** Runs a fetch in a place of the account. @throws Problem TOO_MANY_REQUESTS */
  fetching<R>(account: string, fetch: () => Promise<R>): Promise<R>
  close(): Promise<void>
}

/** All of a buffer that is nobody else's; a copy where it is a part of one. */
const ownBytes = (bytes: Buffer): Uint8Array<ArrayBuffer> => {
  const { buffer, byteOffset, byteLength } = bytes
  const isWhole = byteOffset === 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes)
}

/** The body of a request as what it is said to be. @throws Problem BAD_ARCHIVE */
export const sentBody = (form: Buffer | undefined, contentType: string | undefined): SentUpload => {
  const bytes = ownBytes(form ?? Buffer.alloc(0))
  if (!GZIP.test(contentType ?? '')) return { form: 'json', bytes, contentType }
  return bytes.length === 0 ? refuseUpload('BAD_ARCHIVE', '', 'The body is empty.') : { form: 'tar', bytes }
}

export const sentPack = (answer: Buffer, of: { url: string; commit: string }): SentUpload => ({
  ...of,
  form: 'git answer',
  bytes: ownBytes(answer),
})

type Answered<Q extends UploadQuestion> = Extract<
  UploadPart,
  Q extends { ask: 'contents' }
    ? { contents: unknown }
    : Q extends { ask: 'texts' }
      ? { texts: unknown }
      : { packed: unknown }
>
type Ask = <Q extends UploadQuestion>(question: Q) => Promise<Answered<Q>>

/** One upload, whose bytes are here or in a thread. */
const askerOf = (threads: Threads<ReadJob, ReadUpload>, given: SentUpload, asker: Asker): Ask => {
  const units = Math.ceil(given.bytes.length / UNIT_BYTES)
  let here: SentUpload | null = given
  return async <Q extends UploadQuestion>(question: Q) => {
    const sent = here
    if (sent === null) throw new Error('the upload is being read already')
    here = null
    const answer = await threads.run({ ...question, sent }, asker, units).catch((error: unknown) => {
      if (!(error instanceof TooDear)) throw error
      throw new Problem('ARCHIVE_TOO_LARGE', `To read the upload needs ${error.needs}.`)
    })
    if ('refused' in answer) {
      const { code, detail, ...more } = answer.refused
      throw new Problem(code, detail, more)
    }
    here = answer.sent
    return answer as unknown as Answered<Q>
  }
}

const read = async (ask: Ask, namedFiles: NamedFilesOf): Promise<Upload> => {
  const { contents } = await ask({ ask: 'contents' })
  const { entries, layout, recognised, composePath, texts, digest } = contents
  const paths = await namedFiles({ entries, composePath, texts })
  // A Dockerfile has the same limit (RECIPE_MAX_CHARS).
  const named = paths.length === 0 ? null : await ask({ ask: 'texts', layout, paths, maxChars: ENV_FILE_MAX_CHARS })
  return {
    index: { entries, composePath, texts: new Map([...texts, ...(named?.texts ?? [])]) },
    recognised,
    digest,
    bytes: entries.reduce((sum, entry) => sum + entry.bytes, 0),
    files: entries.length,
    pack: async () => {
      const { packed } = await ask({ ask: 'pack', layout, maxBytes: BLOB_MAX_BYTES })
      return Buffer.from(packed.buffer)
    },
  }
}

const busy = () => tooMany('Uploads wait to be read.', BUSY_RETRY_MS)

export const makeUploadReader = (limits: ThreadLimits = READ_LIMITS, packLimits = PACK_LIMITS): UploadReader => {
  const handOver = ({ sent }: ReadJob) => [sent.bytes.buffer]
  const shared = { entry: ENTRY, what: 'The upload', busy, handOver }
  const threads = makeThreads<ReadJob, ReadUpload>({ ...shared, limits })
  const packs = makeThreads<ReadJob, ReadUpload>({ ...shared, limits: packLimits })
  const ofAccount = makeGate(FETCHES_PER_ACCOUNT, () =>
    tooMany(`More than ${FETCHES_PER_ACCOUNT} repositories are fetched for you at once.`, BUSY_RETRY_MS),
  )
  const everybody = makeGate(FETCHES_MAX, () => tooMany('Too many repositories are fetched at once.', BUSY_RETRY_MS))
  return {
    read: (sent, asker, namedFiles) => read(askerOf('commit' in sent ? packs : threads, sent, asker), namedFiles),
    fetching: (account, fetch) => ofAccount.through(account, () => everybody.through('', fetch)),
    close: async () => {
      await Promise.all([threads.close(), packs.close()])
    },
  }
}
