/**
 * What the scanner says of a repository, and what a warm-up on the dev instance measured.
 * Source: rules/devinstance.md#profile.
 */

import type { Infer, IntegerSchema, ObjectSchema, StringSchema } from '../../kernel/schema.ts'
import { DECIMAL_PATTERN } from '../../values/decimal.ts'

export const NAMES_MAX = 100
export const SERVICES_MAX = 200
const BYTES_MAX = 2 ** 50 // a pebibyte
const COUNT_MAX = 100_000_000
const TEXT_MAX = 300
const PARALLELISM_MAX = 4096
const SERVICE_MEMORY_MB_MAX = 16 * 1024 * 1024
const CPUS_MAX = 4096

const INSTANT_PATTERN =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$'

/** A profile this old no longer tells what is in the repository. */
export const PROFILE_AGE_MAX_MS = 24 * 60 * 60 * 1000
/** How far ahead of ours the scanner's clock may be. */
const CLOCK_SKEW_MS = 5 * 60 * 1000

const bytes = (description: string) =>
  ({ type: 'integer', description, minimum: 0, maximum: BYTES_MAX, default: 0 }) as const satisfies IntegerSchema
const count = (description: string) =>
  ({ type: 'integer', description, minimum: 0, maximum: COUNT_MAX, default: 0 }) as const satisfies IntegerSchema
const line = (description: string) =>
  ({ type: 'string', description, minLength: 1, maxLength: TEXT_MAX, 'x-text': 'line' }) as const satisfies StringSchema
const decimal = (description: string) =>
  ({
    type: 'string',
    description,
    pattern: DECIMAL_PATTERN,
    maxLength: 16,
    'x-rest': 'decimal',
  }) as const satisfies StringSchema

const commit = {
  type: 'string',
  description: 'The commit, in full or abbreviated.',
  pattern: '^[0-9a-f]{7,64}$',
  maxLength: 64,
} as const satisfies StringSchema

const composeService = {
  type: 'object',
  title: 'ComposeService',
  description: 'One service of a compose file.',
  required: ['name'],
  properties: {
    name: line('Its name.'),
    image: line('The image it runs.'),
    memoryMb: {
      type: 'integer',
      description: 'The memory that it declares.',
      minimum: 0,
      maximum: SERVICE_MEMORY_MB_MAX,
    },
    platform: line('The platform that it is pinned to, as linux/amd64.'),
  },
} as const satisfies ObjectSchema

const hostRequirements = {
  type: 'object',
  title: 'HostRequirements',
  description: 'hostRequirements of devcontainer.json: a floor.',
  properties: {
    cpus: { type: 'integer', description: 'Processors.', minimum: 0, maximum: CPUS_MAX },
    memoryGb: decimal('Memory of the machine.'),
    storageGb: decimal('Disk of the machine.'),
  },
} as const satisfies ObjectSchema

/** The scanner's profile. What a scanner leaves out counts as none. */
export const PROFILE = {
  type: 'object',
  description: 'What the scanner found in the repository at one commit.',
  required: ['commit', 'scannedAt'],
  properties: {
    commit,
    scannedAt: {
      type: 'string',
      description: 'When it was scanned, ISO 8601.',
      pattern: INSTANT_PATTERN,
      maxLength: 40,
    },
    scannerVersion: line('Which scanner.'),
    languages: {
      type: 'map',
      description: 'Bytes of source by language.',
      maxProperties: NAMES_MAX,
      values: { type: 'integer', description: 'Bytes.', minimum: 0, maximum: BYTES_MAX },
    },
    trackedFiles: count('Files under version control.'),
    trackedBytes: bytes('Their bytes in one working tree.'),
    gitPackBytes: bytes('Bytes of the packed history.'),
    lfsBytes: bytes('Bytes in Git LFS.'),
    packageManagers: {
      type: 'array',
      description: 'Package managers in use.',
      maxItems: NAMES_MAX,
      items: line('A name, as npm.'),
    },
    lockfileBytes: bytes('Bytes of all lockfiles.'),
    resolvedPackages: count('Packages that the lockfiles resolve to.'),
    workspacePackages: count('Packages of the workspace itself.'),
    composeServices: {
      type: 'array',
      description: 'Services that run beside the work.',
      maxItems: SERVICES_MAX,
      items: composeService,
    },
    testFiles: count('Files with tests.'),
    testParallelism: {
      type: 'integer',
      description: 'How many tests run at a time.',
      minimum: 0,
      maximum: PARALLELISM_MAX,
      default: 0,
    },
    archBlockers: {
      type: 'array',
      description: 'Places that need x86_64: pinned platforms, binaries. Each names the file.',
      maxItems: NAMES_MAX,
      items: line('A place, as Dockerfile:3 linux/amd64.'),
    },
    hostRequirements,
    engines: {
      type: 'map',
      description: 'Versions that the repository asks for.',
      maxProperties: NAMES_MAX,
      values: line('A version range.'),
    },
  },
} as const satisfies ObjectSchema

export type ScannerProfile = Infer<typeof PROFILE>

/** Measured by a successful warm-up on the dev instance. */
export const MEASUREMENTS = {
  type: 'object',
  title: 'Measurements',
  description: 'What a successful warm-up measured.',
  properties: {
    peakRssGb: decimal('Most memory in use at a time.'),
    diskUsedGb: decimal('Disk in use afterwards.'),
    repoHead: { ...commit, description: 'The commit that was warmed up.' },
  },
} as const satisfies ObjectSchema

export type Measurements = Infer<typeof MEASUREMENTS>

export type StaleProfile = { code: 'PROFILE_STALE'; pointer: string; detail: string }

/** A branch may be called `deadbeef`; one of 40 hex digits nobody has. */
const FULL_COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/

/**
 * Why a profile is not fresh, or undefined: scanned in the last 24 hours, at the commit that is assigned. A `ref` that is a
 * branch or a tag names no commit that could be compared without asking the repository.
 */
export const profileFault = (
  profile: Pick<ScannerProfile, 'commit' | 'scannedAt'>,
  repo: { ref?: string | undefined },
  now: Date,
): StaleProfile | undefined => {
  const ageMs = now.getTime() - Date.parse(profile.scannedAt)
  const stale = (pointer: string, detail: string): StaleProfile => ({ code: 'PROFILE_STALE', pointer, detail })
  if (Number.isNaN(ageMs)) return stale('/profile/scannedAt', 'scannedAt is no instant')
  if (ageMs > PROFILE_AGE_MAX_MS) {
    const hours = Math.floor(ageMs / (60 * 60 * 1000))
    return stale('/profile/scannedAt', `the profile is ${hours} h old; at most 24 h are accepted: scan again`)
  }
  if (ageMs < -CLOCK_SKEW_MS) return stale('/profile/scannedAt', `scannedAt ${profile.scannedAt} lies ahead of now`)
  if (repo.ref !== undefined && FULL_COMMIT.test(repo.ref) && !repo.ref.startsWith(profile.commit)) {
    return stale('/profile/commit', `the profile is of ${profile.commit}, the repository is at ${repo.ref}: scan it`)
  }
  return undefined
}
