/**
 * The DevInstance: a reserved workbench for coding agents. Its spec is what was asked for; what has become of it is
 * recorded in facts, for it is the operator's provisioner who does the cloud work (rules/devinstance.md#the-instance).
 */
import { accountField } from '../kernel/fields.ts'
import { COMMON_STATUS } from '../kernel/kind.ts'
import { type Infer, type ObjectSchema, withDefaults } from '../kernel/schema.ts'
import { AGENT_IDS } from './bootstrap/agents.ts'
import { ARCHES, DISK_GB_MAX, SIZE_CLASSES } from './sizing/sizes.ts'

export const NAME_MAX = 63
/** A host name and a word on a command line, whichever it is used as. */
export const NAME_PATTERN = '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$'
export const IDLE_MINUTES_MIN = 15
export const IDLE_MINUTES_MAX = 720
export const IDLE_MINUTES_DEFAULT = 30
export const AUTOSCALES = ['never', 'ask', 'auto'] as const
export type Autoscale = (typeof AUTOSCALES)[number]
const URL_MAX = 2048
const REF_MAX = 255

export const STATES = [
  'reserved',
  'provisioning',
  'configuring',
  'ready',
  'running',
  'stopped',
  'resizing',
  'terminated',
] as const
export type State = (typeof STATES)[number]

export const nameField = {
  type: 'string',
  description: 'Name of the instance, unique among those of its owner.',
  minLength: 1,
  maxLength: NAME_MAX,
  pattern: NAME_PATTERN,
} as const

export const sizeClassField = { type: 'string', description: 'The size class.', enum: SIZE_CLASSES } as const
export const archField = { type: 'string', description: 'The architecture.', enum: ARCHES } as const
export const diskGbField = {
  type: 'integer',
  description: 'Size of the disk in GB.',
  minimum: 1,
  maximum: DISK_GB_MAX,
} as const

/** What is checked out on it. Credentials do not belong in the address: they go into the environment. */
export const REPO = {
  type: 'object',
  title: 'Repo',
  description: 'The repository that the instance holds.',
  required: ['url'],
  properties: {
    url: {
      type: 'string',
      description: 'Address to clone from, by https or ssh, without credentials.',
      minLength: 1,
      maxLength: URL_MAX,
      pattern:
        '^(https://[A-Za-z0-9._~-]+(:[0-9]{1,5})?/|ssh://([A-Za-z0-9._-]+@)?[A-Za-z0-9._-]+(:[0-9]{1,5})?/|[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:)[A-Za-z0-9._~/+%-]+$',
    },
    ref: {
      type: 'string',
      description: 'Branch, tag or commit.',
      minLength: 1,
      maxLength: REF_MAX,
      pattern: '^[A-Za-z0-9_][A-Za-z0-9._/+-]*$',
    },
  },
} as const satisfies ObjectSchema

export const POLICY = {
  type: 'object',
  title: 'Policy',
  description: 'When it stops itself, and whether it may grow.',
  properties: {
    idleMinutes: {
      type: 'integer',
      description: 'It stops itself after this many minutes without activity.',
      minimum: IDLE_MINUTES_MIN,
      maximum: IDLE_MINUTES_MAX,
      default: IDLE_MINUTES_DEFAULT,
    },
    autoscale: {
      type: 'string',
      description: 'Whether a larger size is never proposed, proposed, or taken by the provisioner at once.',
      enum: AUTOSCALES,
      default: 'ask',
    },
  },
} as const satisfies ObjectSchema

export const spec = {
  type: 'object',
  description: 'What is to be reserved.',
  required: ['account', 'sizeClass'],
  properties: {
    account: accountField,
    name: { ...nameField, 'x-immutable': 'INVALID_FIELD' },
    sizeClass: { ...sizeClassField, 'x-immutable': 'INVALID_FIELD' },
    arch: { ...archField, default: 'arm64', 'x-immutable': 'INVALID_FIELD' },
    diskGb: { ...diskGbField, 'x-immutable': 'INVALID_FIELD' },
    agents: {
      type: 'array',
      description: 'The agent profiles to install.',
      maxItems: AGENT_IDS.length,
      default: [],
      'x-list': 'set',
      'x-immutable': 'INVALID_FIELD',
      items: { type: 'string', description: 'One profile.', enum: AGENT_IDS, maxLength: 32 },
    },
    repo: { ...REPO, 'x-immutable': 'INVALID_FIELD' },
    policy: POLICY,
  },
} as const satisfies ObjectSchema

export const status = {
  type: 'object',
  description: 'What has become of the instance. Written by the operator alone.',
  properties: {
    ...COMMON_STATUS,
    phase: { type: 'string', description: 'One word for display: the state, or deleted.', maxLength: 32 },
    state: { type: 'string', description: 'The state that was last confirmed.', enum: STATES, maxLength: 32 },
    version: { type: 'integer', description: 'Row version for compare-and-set.', minimum: 0 },
    name: { type: 'string', description: 'Its present name.', maxLength: NAME_MAX },
    sizeClass: { type: 'string', description: 'Its present size class.', maxLength: 8 },
    diskGb: { type: 'integer', description: 'Its present disk in GB.' },
    runningMonthlyUsd: {
      type: 'string',
      description: 'All-in price of a month while it runs, in US dollars.',
      maxLength: 32,
    },
    instanceId: { type: 'string', description: "The cloud's id.", maxLength: 64 },
    publicIp: { type: 'string', description: 'Its present address.', maxLength: 64 },
  },
} as const satisfies ObjectSchema

export type DevInstanceSpec = Infer<typeof spec>
export type DevInstanceStatus = Infer<typeof status>
export type Policy = Infer<typeof POLICY>
export type Repo = Infer<typeof REPO>

/** The policy in force: what is not said is as the schema says. */
export const policyOf = ({ policy }: Pick<DevInstanceSpec, 'policy'>): Policy => withDefaults(POLICY, policy ?? {})
