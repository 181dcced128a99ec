/**
 * Personal access tokens: `btg_<id>_<secret>`. The secret is 160 random bits and a checksum over the whole token, so
 * that a typing error differs from a revoked token without a look-up. Only a keyed hash of the random part is kept
 * (HMAC-SHA256 under a key derived from the first root), so a copy of the database opens nothing.
 * Source: rules/platform.md#tokens.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { readSecretKeys } from '../../controllers/base/env.ts'
import type { Keys } from '../../controllers/base/keys.ts'
import { type KeptRoots, openKeys } from '../../controllers/store/installation/open.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'

/** The first tokens had no checksum; they go on working. */
const TOKEN = /^btg_([0-9a-f]{16})_([A-Za-z0-9_-]{27})([A-Za-z0-9]{6})?$/
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 6
const ID_BYTES = 8
/** 160 bits. */
const SECRET_BYTES = 20

export const TOKEN_PREFIX = 'btg_'

export type TokenParts = { id: string; secret: string }
export type ParsedToken = ({ ok: true } & TokenParts) | { ok: false; fault: 'form' | 'checksum' }

/** CRC-32 in base 62: it finds typing errors and keeps nothing secret. */
const checksumOf = (text: string): string => {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = (DIGITS[rest % DIGITS.length] ?? '') + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}

/** The halves of a token; `secret` is without the checksum. */
export const parseToken = (token: string): ParsedToken => {
  const [, id, secret, checksum] = TOKEN.exec(token) ?? []
  if (id === undefined || secret === undefined) return { ok: false, fault: 'form' }
  const isWhole = checksum === undefined || checksum === checksumOf(`${TOKEN_PREFIX}${id}_${secret}`)
  return isWhole ? { ok: true, id, secret } : { ok: false, fault: 'checksum' }
}

export type NewSecret = TokenParts & { token: string }

const tokenOf = (id: string, bytes: Buffer, prefix = TOKEN_PREFIX): NewSecret => {
  const secret = bytes.toString('base64url')
  const body = `${prefix}${id}_${secret}`
  return { id, secret, token: body + checksumOf(body) }
}

/** A new secret, under a given id or a new one. `token` is what its owner is shown, once. */
export const newToken = (id = randomBytes(ID_BYTES).toString('hex')): NewSecret =>
  tokenOf(id, randomBytes(SECRET_BYTES))

/** What tokens are compared by, and what those of one intent are drawn from. */
export type TokenKeys = Pick<Keys, 'tokenHash' | 'drawn'>

/**
 * The secret of one intent: the same each time, so that a repeat after a crash makes no second one and can still show it.
 * Nobody without the root can tell it from random bits. What is hashed is no secret's form, so no stored hash is
 * ever a secret.
 */
export const tokenOfIntent = ({ drawn }: Pick<TokenKeys, 'drawn'>, intent: string, id?: string): NewSecret =>
  tokenOf(
    id ?? drawn(`id of ${intent}`).toString('hex', 0, ID_BYTES),
    drawn(`secret of ${intent}`).subarray(0, SECRET_BYTES),
  )

/** The id of a dev instance is the name of its resource. */
const REPORT_TOKEN = /^dbr_([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)_([A-Za-z0-9_-]{27})([A-Za-z0-9]{6})$/

export const REPORT_PREFIX = 'dbr_'

/** A token that opens the report route of one dev instance. @param intent as for tokenOfIntent; drawn when left out */
export const newReportToken = ({ drawn }: Pick<TokenKeys, 'drawn'>, id: string, intent?: string): NewSecret => {
  const bytes =
    intent === undefined ? randomBytes(SECRET_BYTES) : drawn(`secret of report ${intent}`).subarray(0, SECRET_BYTES)
  return tokenOf(id, bytes, REPORT_PREFIX)
}

/** As parseToken, of a report token. */
export const parseReportToken = (token: string): ParsedToken => {
  const [, id, , secret, checksum] = REPORT_TOKEN.exec(token) ?? []
  if (id === undefined || secret === undefined) return { ok: false, fault: 'form' }
  const isWhole = checksum === checksumOf(`${REPORT_PREFIX}${id}_${secret}`)
  return isWhole ? { ok: true, id, secret } : { ok: false, fault: 'checksum' }
}

const NOBODY = Buffer.alloc(32)

/**
 * Whether a given hash is one of two kept ones. Both are compared, in constant time and also when there is none to
 * compare with, so that the time tells neither how much of a secret was right nor which ids exist.
 */
export const matches = (given: Buffer, current: Buffer | undefined, previous: Buffer | null | undefined) => {
  const isCurrent = timingSafeEqual(given, current ?? NOBODY)
  const isPrevious = timingSafeEqual(given, previous ?? NOBODY)
  return { current: isCurrent && current !== undefined, previous: isPrevious && !!previous }
}

/**
 * Makes a token with full access for an account, past any limit, and returns it: the way in for the one who sets the
 * platform up.
 * @param to.account the name of its resource
 * @param to.key the text of BOTTEGA_SECRET_KEY
 * @param to.kept the roots that an earlier database of this cluster had; none when left out
 */
export const mintToken = async (
  databaseUrl: string,
  to: { account: string; name: string; key: string; kept?: KeptRoots },
): Promise<string> => {
  const { id, secret, token } = newToken()
  const pg = makePg({ url: databaseUrl, max: 1 })
  try {
    const opened = await openKeys({
      pg,
      secretKeys: readSecretKeys(to.key),
      makes: true,
      ...(to.kept && { kept: to.kept }),
    })
    opened.stop()
    const hash = opened.keys.tokenHash(secret)
    const text = 'insert into tokens (id, account, name, secret_hash) values ($1, account_key_of($2), $3, $4)'
    await pg.query('insert_token', text, [id, to.account, to.name, hash])
  } finally {
    await pg.close()
  }
  return token
}
