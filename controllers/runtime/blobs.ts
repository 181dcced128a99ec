/**
 * Bytes by their sha256, in PostgreSQL, in chunks (DESIGN section 4, the default door of the blob store).
 * The same bytes are stored once, and what is read is checked against its name.
 */
import { createHash } from 'node:crypto'
import type { Pg } from './pg.ts'

/** What one blob may weigh here; larger things belong into another store. */
export const BLOB_MAX_BYTES = 128 * 1024 * 1024

export type Blobs = {
  /** Stores the bytes (or finds them stored) and gives their sha256 in hex. */
  put(content: Buffer): Promise<string>
  /** `null` when nothing has that sha256. Throws when the stored bytes are not what they were. */
  get(sha256: string): Promise<Buffer | null>
}

export const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

const GET = `
select coalesce((select string_agg(c.content, ''::bytea order by c.n) from blob_chunks c where c.sha256 = b.sha256), ''::bytea) as content
from blobs b where b.sha256 = $1`

export const makeBlobs = ({ pg }: { pg: Pg }): Blobs => ({
  async put(content) {
    if (content.length > BLOB_MAX_BYTES) throw new Error(`a blob of ${content.length} bytes is above ${BLOB_MAX_BYTES}`)
    const sha256 = sha256Of(content)
    const described = JSON.stringify([{ sha256, bytes: content.length, start: 0 }])
    await pg.query('put_blobs', 'select put_blobs($1, $2)', [described, content])
    return sha256
  },
  async get(sha256) {
    const { rows } = await pg.query<{ content: Buffer }>('get_blob', GET, [Buffer.from(sha256, 'hex')])
    const content = rows[0]?.content
    if (content === undefined) return null
    if (sha256Of(content) !== sha256) throw new Error(`blob ${sha256} is damaged: its bytes have another sha256`)
    return content
  },
})
