/** What the files of a release are given on the host: a time. */
import { createHash } from 'node:crypto'
import type { Release } from '../world.ts'

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
