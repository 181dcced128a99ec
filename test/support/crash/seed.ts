import { createHash } from 'node:crypto'

/**
 * What a plain run chooses, it chooses by a seed that it prints: each day's runs die elsewhere, so that in time every point is
 * run, and one that failed can be had again (`BOTTEGA_TEST_SEED=… hack/test FILE`). In CI it is the same on any day.
 */

const CI_SEED = 1
const DAY_MS = 86_400_000

const seedOf = ({ BOTTEGA_TEST_SEED: given, CI }: NodeJS.ProcessEnv): number => {
  if (given !== undefined) return Number(given)
  return CI ? CI_SEED : Math.floor(Date.now() / DAY_MS)
}
export const seed = seedOf(process.env)

/** @returns a number from 0 up to 1, always the same for the same words under one seed */
export const drawn = (...words: (string | number)[]): number =>
  createHash('sha256')
    .update([seed, ...words].join('\n'))
    .digest()
    .readUInt32BE(0) /
  2 ** 32
