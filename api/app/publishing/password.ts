/** The password of a private app: scrypt, so that a copy of the database is slow to guess from. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { AppNeeds } from '../needs.ts'

/** RFC 7914: 16 MiB and some 50 ms for each guess. */
const COST = { N: 16_384, r: 8, p: 1 }
const HASH_BYTES = 32
const SALT_BYTES = 16

const hashOf = (password: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, HASH_BYTES, COST, (error, hash) => (error ? reject(error) : resolve(hash)))
  })

const hashPassword = async (password: string): Promise<{ salt: Buffer; hash: Buffer }> => {
  const salt = randomBytes(SALT_BYTES)
  return { salt, hash: await hashOf(password, salt) }
}

export const passwordFits = async (given: string, { salt, hash }: { salt: Buffer; hash: Buffer }): Promise<boolean> =>
  timingSafeEqual(await hashOf(given, salt), hash)

/** @returns the version that the spec is to name */
export const storePassword = async (deps: Pick<AppNeeds, 'apps'>, app: string, password: string): Promise<number> =>
  deps.apps.putPassword(app, await hashPassword(password))
