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
const WISH_MAX = 1_000_000_000
const URL_MAX = 2048
const REF_MAX = 255

/**
 * Each rule that something which happened may break is one, beside what its reports and the clock add. A status that has no room
 * for one of them is never written, and nothing more is decided.
 */
export const CONDITIONS_MAX = 32

/** What a machine is wished to do. */
export const POWERS = ['running', 'stopped'] as const
export type Power = (typeof POWERS)[number]

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
    // Left out they are no: what was reserved before either was there stays as it is.
    stopWithUnpushedWork: {
      type: 'boolean',
      description: 'True lets it stop itself although work on it was not pushed; else that keeps it on.',
    },
    teamLogin: {
      type: 'boolean',
      description:
        'True lets members of its teams log in with their public keys, as the user whose environment is there.',
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
    sizeClass: {
      ...sizeClassField,
      description: 'The size class. A change of it is a wish that the provisioner fulfils.',
    },
    arch: { ...archField, default: 'arm64', 'x-immutable': 'ARCH_CHANGE' },
    diskGb: {
      ...diskGbField,
      description: 'Size of the disk in GB, which only grows. A change of it is a wish that the provisioner fulfils.',
    },
    power: {
      type: 'string',
      description:
        'What the machine is wished to do. A change of it is a wish, fulfilled once: a stop that comes later is not undone by it.',
      enum: POWERS,
      'x-rest': 'hidden',
    },
    wish: {
      type: 'integer',
      description: 'Raised, it wishes power, sizeClass and diskGb again as they stand, whatever came between.',
      minimum: 0,
      maximum: WISH_MAX,
      'x-rest': 'hidden',
    },
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
    conditions: { ...COMMON_STATUS.conditions, maxItems: CONDITIONS_MAX },
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
    monthUsd: {
      type: 'string',
      description: 'What it has cost in this month (UTC), in US dollars; at most an hour and ten cents behind.',
      maxLength: 32,
    },
    idleSince: {
      type: 'string',
      description: 'When it was used last, once that is five minutes ago; absent while it is used or does not run.',
      format: 'date-time',
      maxLength: 64,
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
