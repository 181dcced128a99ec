/**
 * Bytes by their sha256, in PostgreSQL, in chunks (rules/platform.md#blobs).
 * The same bytes are stored once, and what is read is checked against its name.
 */
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Pg } from './pg/pg.ts'

/** What one blob may weigh here; larger things belong into another store. */
export const BLOB_MAX_BYTES = 128 * 1024 * 1024

/** Others are served before more than this goes to PostgreSQL. */
const TURN_BYTES = 1_000_000

export type Blobs = {
  /** Stores the bytes (or finds them stored) and gives their sha256 in hex. */
  put(content: Buffer): Promise<string>
  /** Many small ones in one statement; gives their sha256 in their order. */
  putAll(contents: readonly Buffer[]): Promise<string[]>
  /** Which of these are stored. */
  has(sha256s: readonly string[]): Promise<Set<string>>
  /** `null` when nothing has that sha256. Throws when the stored bytes are not what they were. */
  get(sha256: string): Promise<Buffer | null>
}

export const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

const HAS = "select encode(sha256, 'hex') as sha256 from blobs where sha256 = any ($1)"
const GET = `
select coalesce((select string_agg(c.content, ''::bytea order by c.n) from blob_chunks c where c.sha256 = b.sha256), ''::bytea) as content
from blobs b where b.sha256 = $1`

export const makeBlobs = ({ pg }: { pg: Pg }): Blobs => {
  const putAll = async (contents: readonly Buffer[]): Promise<string[]> => {
    let start = 0
    const described = contents.map((content) => {
      const blob = { sha256: sha256Of(content), bytes: content.length, start }
      start += content.length
      return blob
    })
    if (start > BLOB_MAX_BYTES) throw new Error(`blobs of ${start} bytes are above ${BLOB_MAX_BYTES}`)
    // to hash megabytes and to hand them over take as long as a request each
    if (start > TURN_BYTES) await turn()
    const joined = contents.length === 1 && contents[0] ? contents[0] : Buffer.concat(contents)
    if (contents.length > 0)
      await pg.query('put_blobs', 'select put_blobs($1, $2)', [JSON.stringify(described), joined])
    return described.map(({ sha256 }) => sha256)
  }
  return {
    async put(content) {
      const [sha256 = ''] = await putAll([content])
      return sha256
    },
    putAll,
    async has(sha256s) {
      const { rows } = await pg.query<{ sha256: string }>('have_blobs', HAS, [
        sha256s.map((sum) => Buffer.from(sum, 'hex')),
      ])
      return new Set(rows.map(({ sha256 }) => sha256))
    },
    async get(sha256) {
      const { rows } = await pg.query<{ content: Buffer }>('get_blob', GET, [Buffer.from(sha256, 'hex')])
      const content = rows[0]?.content
      if (content === undefined) return null
      if (sha256Of(content) !== sha256) throw new Error(`blob ${sha256} is damaged: its bytes have another sha256`)
      return content
    },
  }
}
