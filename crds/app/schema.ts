/**
 * The App: what runs, where, for whom. Bytes and secrets are references: an upload by its digest, env and password by the
 * number of their version (rules/app.md#the-app).
 */

import { accountField, ID_MAX, NAME_PATTERN } from '../kernel/fields.ts'
import { COMMON_STATUS } from '../kernel/kind.ts'
import type { Resource } from '../kernel/object.ts'
import type { ArraySchema, Infer, ObjectSchema } from '../kernel/schema.ts'
import { leavingStatus } from './lifecycle/keeping/moving/schema.ts'
import { previewOf } from './lifecycle/publishing/previewed.ts'
import { replicas, servingStatus, websockets } from './lifecycle/scaling/schema.ts'
import { commands, schedules } from './runs/schema.ts'

/** A label of DNS that leaves room for the marks of releases. */
export const SLUG_MAX = 40
export const SLUG_PATTERN = '^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$'
export const VERSION_MAX = 1_000_000_000
export const PORT_MAX = 65_535
export const ACCESSES = ['public', 'private'] as const
export const POLICIES = ['unknown', 'none', 'own-login'] as const
export const ROUTINGS = ['managed', 'original'] as const
/** Own domains of one app. */
export const DOMAINS_MAX = 20
export const DOWNTIMES = ['confirm', 'allow'] as const
export const TRIALS = ['copy', 'none'] as const
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

const domains = {
  type: 'array',
  description:
    "Domains of the account's own that visitors are let in by, beside the name below the host's base domain; each is served once it is proven and leads to the host. Over REST by domain-config.",
  maxItems: DOMAINS_MAX,
  'x-list': 'set',
  'x-rest': 'hidden',
  items: {
    type: 'string',
    description: 'A full name in the letters of the DNS, in lower case.',
    minLength: 3,
    maxLength: 253,
    pattern: '^[a-z0-9-]{1,63}(\\.[a-z0-9-]{1,63})+$',
    'x-code': 'BAD_DOMAIN',
  },
} as const satisfies ArraySchema

const plan = (description: string) =>
  ({ type: 'string', description, maxLength: 64, pattern: '^[a-z0-9-]+$', 'x-rest': 'hidden' }) as const

/** Codes of HTTP, or a range of them. */
export const STATUS_PATTERN = '^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$'

const readiness = {
  type: 'object',
  title: 'ReadinessProbe',
  description: 'What is asked of the routed service to tell whether it is ready, and which answers say so.',
  properties: {
    path: {
      type: 'string',
      description: 'Path and query.',
      maxLength: 512,
      pattern: "^/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*$",
      default: '/',
    },
    status: {
      type: 'array',
      description: 'Codes or ranges that are well, as 200 or 200-399; 200-399 when left out.',
      minItems: 1,
      maxItems: 16,
      'x-list': 'set',
      items: { type: 'string', description: 'As 204, or 200-399.', maxLength: 7, pattern: STATUS_PATTERN },
    },
    timeoutSeconds: { type: 'integer', description: 'For an answer.', minimum: 1, maximum: 10, default: 5 },
  },
} as const satisfies ObjectSchema

const handOver = {
  type: 'object',
  description: 'How a service that keeps something is handed over to the next release; only one of it runs at a time.',
  properties: {
    downtime: {
      type: 'string',
      description: 'confirm: a release that stops a service is refused until it is confirmed. allow: it is not.',
      enum: DOWNTIMES,
    },
    trial: {
      type: 'string',
      description: 'copy: the release comes up on copies of the volumes before anything stops. none: it is not tried.',
      enum: TRIALS,
    },
    seconds: {
      type: 'integer',
      description: 'Until the new one answers; else the old one is started again. 10, or what its health check takes.',
      minimum: 1,
      maximum: 600,
    },
  },
} as const satisfies ObjectSchema

const source = {
  type: 'object',
  description:
    'The upload to run, by whoever writes this manifest and by nobody else: a deploy over REST leaves it alone, and is refused (FIELD_IN_MANIFEST) while it stands here. One that was sent before the last deploy over REST is not run (MANIFEST_BEHIND). Exclusive with restore.',
  required: ['digest'],
  'x-rest': 'hidden',
  properties: {
    digest: {
      type: 'string',
      description: 'Names the files that were uploaded by POST …/sources or …/deploy, by this account.',
      maxLength: 64,
      pattern: '^[0-9a-f]{64}$',
    },
  },
} as const satisfies ObjectSchema

const restore = {
  type: 'object',
  description:
    'The earlier release to run again, without a build, by whoever writes this manifest; like source it is not written over REST. Exclusive with source.',
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
      description:
        'The host that it is to run on. Another one moves it there, over REST by …/move; status.host tells where it lives. A move that failed is not tried again until another host is named.',
      minLength: 1,
      maxLength: ID_MAX,
      pattern: NAME_PATTERN,
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
    readiness,
    budget,
    replicas,
    domains,
    routing: {
      type: 'string',
      description:
        "managed: the route, its certificates and its policy check are the platform's. original: an app of before keeps the route that it has, until its domains or its access change.",
      enum: ROUTINGS,
      default: 'managed',
      'x-rest': 'hidden',
    },
    domainPlan: plan('The plan of domains that was applied last over REST.'),
    accessPlan: plan('The plan of access that was applied last over REST.'),
    commands,
    schedules,
    handOver,
    source,
    restore,
    previewOf,
    envVersion: version('The version of the env that is to be applied.'),
    passwordVersion: version('The version of the password that opens a private app.'),
    drainSeconds: {
      type: 'integer',
      description:
        'How long requests, uploads and WebSockets that began on a release may take to end after the next has taken over; 60 when left out.',
      minimum: 1,
      maximum: 3_600,
    },
    websockets,
    watchSeconds: {
      type: 'integer',
      description:
        'How long a release is watched after it has taken over, with the one before it kept to go back to; 60 when left out, 0 for not at all.',
      minimum: 0,
      maximum: 600,
    },
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
    ...servingStatus,
    domains: {
      type: 'array',
      description: 'How each of its own domains stands.',
      maxItems: DOMAINS_MAX,
      'x-list': { map: 'name' },
      items: {
        type: 'object',
        description: 'One domain.',
        required: ['name', 'state'],
        properties: {
          name: { type: 'string', description: 'As the spec names it.', maxLength: 253 },
          state: {
            type: 'string',
            description: 'Where it is in its life; served once visitors are let in by it.',
            maxLength: 32,
          },
          records: {
            type: 'array',
            description: 'Records that prove it, one of which is to be set.',
            maxItems: 4,
            'x-list': 'atomic',
            items: { type: 'string', description: 'Type, name and value.', maxLength: 1024 },
          },
        },
      },
    },
    host: { type: 'string', description: 'The host that it runs on.', maxLength: ID_MAX },
    leaving: leavingStatus,
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
