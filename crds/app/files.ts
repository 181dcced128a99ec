/** What the files of a release are given on the host: a time, and a name for what is built of them. */
import { createHash } from 'node:crypto'
import type { AppResource } from './schema.ts'
import type { Operation, Release } from './world.ts'

const hex = (...parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex')

const FRACTION_DIGITS = 9

/**
 * The time that all files of a release bear, in seconds since 1970 as `touch` takes them. Whatever compares files by size and
 * time (make, a cache that a build mounts, a web server's ETag) sees that they are not those of the release before: they are
 * younger. Within the release none is older than another, as after a checkout. The fraction is of the content.
 */
export const fileTimeOf = ({ createdAt, source }: Pick<Release, 'createdAt' | 'source'>): string => {
  const seconds = Math.floor(Date.parse(createdAt) / 1000)
  const fraction = BigInt(`0x${hex(source)}`) % 10n ** BigInt(FRACTION_DIGITS)
  return `${seconds}.${String(fraction).padStart(FRACTION_DIGITS, '0')}`
}

type Of = { app: AppResource; operation: Pick<Operation, 'id'>; release: Pick<Release, 'createdAt'> }

/** One build of one account's app, and no other; the same when the build is asked for again. 32 characters of 0-9 and a-f. */
export const buildKeyOf = ({ app: { metadata, spec }, operation, release }: Of): string =>
  hex(spec.account, metadata.uid, operation.id, String(Date.parse(release.createdAt))).slice(0, 32)
