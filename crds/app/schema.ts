/**
 * The App: what runs, where, for whom. Bytes and secrets are references: an upload by its digest, env and password by the
 * number of their version (rules/app.md#the-app).
 */

import { accountField, ID_MAX, NAME_PATTERN } from '../kernel/fields.ts'
import { COMMON_STATUS } from '../kernel/kind.ts'
import type { Resource } from '../kernel/object.ts'
import type { Infer, ObjectSchema } from '../kernel/schema.ts'

/** A label of DNS that leaves room for the marks of releases. */
export const SLUG_MAX = 40
export const SLUG_PATTERN = '^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$'
export const VERSION_MAX = 1_000_000_000
export const PORT_MAX = 65_535
export const ACCESSES = ['public', 'private'] as const
export const POLICIES = ['unknown', 'none', 'own-login'] as const
export const ENV_CHOICES = ['release', 'current'] as const

const version = (description: string) =>
  ({ type: 'integer', description, minimum: 1, maximum: VERSION_MAX, 'x-rest': 'hidden' }) as const

const route = {
  type: 'object',
  description: 'Where visitors go; when left out, the only service with expose or ports.',
  properties: {
    service: {
      type: 'string',
      description: 'A service of the compose file.',
      maxLength: 63,
      pattern: '^[a-zA-Z0-9._-]+$',
    },
    port: { type: 'integer', description: 'The port that it listens on.', minimum: 1, maximum: PORT_MAX },
  },
} as const satisfies ObjectSchema

const budget = {
  type: 'object',
  description:
    'What all services together may use; what the host gives an app when left out, and never more than that.',
  required: ['cpuMillis', 'memoryMib', 'diskGib'],
  properties: {
    cpuMillis: { type: 'integer', description: 'Thousandths of a processor.', minimum: 50, maximum: 256_000 },
    memoryMib: { type: 'integer', description: 'Memory in MiB.', minimum: 32, maximum: 4_194_304 },
    diskGib: { type: 'integer', description: 'Disk in GiB.', minimum: 1, maximum: 65_536 },
  },
} as const satisfies ObjectSchema

const source = {
  type: 'object',
  description: 'The upload to run. Exclusive with restore.',
  required: ['digest'],
  'x-rest': 'hidden',
  properties: {
    digest: {
      type: 'string',
      description: 'Names the files that were uploaded.',
      maxLength: 64,
      pattern: '^[0-9a-f]{64}$',
    },
  },
} as const satisfies ObjectSchema

const restore = {
  type: 'object',
  description: 'The earlier release to run again, without a build. Exclusive with source.',
  required: ['release'],
  'x-rest': 'hidden',
  properties: {
    release: { type: 'integer', description: 'Its number.', minimum: 1, maximum: VERSION_MAX },
    env: {
      type: 'string',
      description: 'Whose env: as it was with that release, or as it is applied now.',
      enum: ENV_CHOICES,
      default: 'release',
    },
  },
} as const satisfies ObjectSchema

export const spec = {
  type: 'object',
  description: 'What is to run, and who may see it.',
  required: ['account', 'slug', 'hostId'],
  properties: {
    account: accountField,
    slug: {
      type: 'string',
      description: "Its name under the host's base domain. Fixed at creation.",
      minLength: 1,
      maxLength: SLUG_MAX,
      pattern: SLUG_PATTERN,
      'x-immutable': 'INVALID_FIELD',
    },
    hostId: {
      type: 'string',
      description: 'The host that it runs on. Fixed at creation.',
      minLength: 1,
      maxLength: ID_MAX,
      pattern: NAME_PATTERN,
      'x-immutable': 'INVALID_FIELD',
    },
    access: {
      type: 'string',
      description: 'public, or private behind a sign-in page with a password.',
      enum: ACCESSES,
      default: 'public',
    },
    applicationPolicy: {
      type: 'string',
      description: 'What the app itself asks of visitors, as its owner says: none, own-login, or unknown.',
      enum: POLICIES,
      default: 'unknown',
    },
    route,
    budget,
    source,
    restore,
    envVersion: version('The version of the env that is to be applied.'),
    passwordVersion: version('The version of the password that opens a private app.'),
    asked: {
      type: 'integer',
      description: 'How many operations have been asked for by REST. Never falls.',
      minimum: 0,
      maximum: VERSION_MAX,
      default: 0,
      'x-rest': 'hidden',
    },
    volumesOnDelete: {
      type: 'string',
      description: 'Whether the volumes stay on the host when the app is deleted; its name stays reserved with them.',
      enum: ['keep', 'delete'],
      default: 'keep',
      'x-rest': 'hidden',
    },
  },
} as const satisfies ObjectSchema

export const status = {
  type: 'object',
  description: 'What has become of the app. Written by the operator alone.',
  properties: {
    ...COMMON_STATUS,
    phase: { type: 'string', description: 'One word for display: empty, deploying, live, failed.', maxLength: 32 },
    url: { type: 'string', description: 'Where visitors reach it.', maxLength: 2048 },
    release: { type: 'integer', description: 'The number of the release that is live.' },
    host: { type: 'string', description: 'The host that it runs on.', maxLength: ID_MAX },
    operation: { type: 'string', description: 'The operation that runs or ran last.', maxLength: ID_MAX },
  },
} as const satisfies ObjectSchema

export type AppSpec = Infer<typeof spec>
export type AppStatus = Infer<typeof status>
export type Access = (typeof ACCESSES)[number]
export type EnvChoice = (typeof ENV_CHOICES)[number]
export type AppBudget = NonNullable<AppSpec['budget']>

export type AppResource = Resource<AppSpec, AppStatus>

export type AppFacts = Omit<AppStatus, 'observedGeneration' | 'conditions'>
