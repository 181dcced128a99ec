/**
 * Personal access tokens: `btg_<id>_<secret>`. The secret has 160 random bits and is kept only as a keyed hash
 * (HMAC-SHA256 under a key derived from the server key), so a copy of the database opens nothing.
 * Source: spec/1 Authentication; CONTRACT section 3.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { makePg, type Pg } from '../controllers/runtime/pg.ts'

const TOKEN = /^btg_([0-9a-f]{16})_([A-Za-z0-9_-]{27})$/

/** What a token row says of its holder. */
export type TokenRow = { id: string; account: string; secretHash: Buffer; revokedAt: string | null }

/** The two halves of a well-formed token, or null. */
export const parseToken = (token: string): { id: string; secret: string } | null => {
  const match = TOKEN.exec(token)
  return match?.[1] && match[2] ? { id: match[1], secret: match[2] } : null
}

/** Keyed hash of a secret; 32 bytes. */
export const hashSecret = (serverKey: Buffer, secret: string): Buffer =>
  createHmac('sha256', createHmac('sha256', serverKey).update('tokens').digest()).update(secret).digest()

/** Compares in constant time over equal lengths. */
export const secretMatches = (serverKey: Buffer, secret: string, hash: Buffer): boolean => {
  const given = hashSecret(serverKey, secret)
  return given.length === hash.length && timingSafeEqual(given, hash)
}

export const findToken = async (pg: Pg, id: string): Promise<TokenRow | null> => {
  const { rows } = await pg.query<TokenRow>(
    'find_token',
    'select id, account, secret_hash as "secretHash", revoked_at as "revokedAt" from tokens where id = $1',
    [id],
  )
  return rows[0] ?? null
}

/**
 * Makes a token and returns it; it is shown this once.
 * @param to.key the server key, base64 of 32 bytes (BOTTEGA_SECRET_KEY)
 */
export const mintToken = async (
  databaseUrl: string,
  to: { account: string; name: string; key: string },
): Promise<string> => {
  const id = randomBytes(8).toString('hex')
  const secret = randomBytes(20).toString('base64url')
  const pg = makePg({ url: databaseUrl, max: 1 })
  try {
    await pg.query('insert_token', 'insert into tokens (id, account, name, secret_hash) values ($1, $2, $3, $4)', [
      id,
      to.account,
      to.name,
      hashSecret(Buffer.from(to.key, 'base64'), secret),
    ])
  } finally {
    await pg.close()
  }
  return `btg_${id}_${secret}`
}
