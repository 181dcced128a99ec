/**
 * What the provisioner and the owner say: the body of each call, as one literal each (rules/devinstance.md#protocol).
 */
import type { Infer, ObjectSchema } from '../kernel/schema.ts'
import { archField, diskGbField, nameField, type Policy, type Power, REPO, sizeClassField } from './schema.ts'
import { type MEASUREMENTS, PROFILE } from './sizing/profile.ts'
import type { SizeClass } from './sizing/sizes.ts'

const ALLOCATION_MAX = 64
const IPV4 = '^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$'
export const ENV_KEYS_MAX = 100
export const ENV_VALUE_MAX = 32_768
export const ENV_BYTES_MAX = 262_144
export const UNITS_MAX = 20
export const ACCOUNTS_MAX = 100
export const HOST_KEYS_MAX = 10
const LISTENERS_MAX = 200
const WORD_MAX = 256

const word = (description: string, maxLength = WORD_MAX) =>
  ({ type: 'string', description, maxLength, 'x-text': 'line' }) as const
const flag = (description: string) => ({ type: 'boolean', description }) as const
const version = {
  type: 'integer',
  description: 'Row version that the caller has seen; it must still be the present one.',
  minimum: 0,
} as const
const instanceId = {
  type: 'string',
  description: "The cloud's id of the instance.",
  pattern: '^i-[0-9a-f]{8,17}$',
  maxLength: 32,
} as const
const publicIp = { type: 'string', description: 'Public IPv4 address.', pattern: IPV4, maxLength: 15 } as const
const eipAllocId = {
  type: 'string',
  description: 'Allocation id of the address.',
  pattern: '^eipalloc-[a-z0-9]+$',
  maxLength: ALLOCATION_MAX,
} as const
const instanceType = word('Instance type that it runs as, where that is known.')
const region = word('Region that it runs in, where that is known.')
const acknowledgeWorkAtRisk = flag('True goes on although work on the instance was not pushed.')

export const PROVISIONING = {
  type: 'object',
  description: 'What was launched.',
  required: ['instanceId'],
  properties: { instanceId },
} as const satisfies ObjectSchema

export const FINALIZE = {
  type: 'object',
  description: 'What the cloud and sshd say of the instance.',
  required: ['instanceId', 'publicIp', 'eipAllocId', 'facts', 'assertions'],
  properties: {
    instanceId,
    publicIp,
    eipAllocId,
    facts: {
      type: 'object',
      description: 'Facts of the cloud and of the machine.',
      properties: {
        instanceType: word('Instance type.'),
        arch: word('Architecture.'),
        region: word('Region.'),
        imageId: word('Image that it was launched from.'),
        bakedSha256: word('Digest of what its image had installed already, in hex, where that was baked.', 64),
        diskGb: diskGbField,
        volumeType: word('Volume type.'),
        volumeEncrypted: flag('Whether the volume is encrypted.'),
        httpTokens: word('Whether the metadata service demands tokens.'),
        hopLimit: { type: 'integer', description: 'Hops that an answer of it may take.', minimum: 0, maximum: 64 },
        creditMode: word('CPU credits of a burstable type.'),
        shutdownBehavior: word('What a shutdown from within does.'),
        userDataSha256: word('sha256 of the user data as served, in hex.', 64),
        cloudInitStatus: {
          type: 'integer',
          description: 'Exit code of cloud-init status.',
          minimum: 0,
          maximum: 255,
        },
        hostKeys: {
          type: 'array',
          description: 'SHA256 fingerprints of the host keys.',
          maxItems: HOST_KEYS_MAX,
          items: word('A fingerprint, as SHA256:…'),
        },
        listeners: {
          type: 'array',
          description: 'Ports that listen on a public address.',
          maxItems: LISTENERS_MAX,
          items: { type: 'integer', description: 'A port.', minimum: 1, maximum: 65_535 },
        },
        units: {
          type: 'array',
          description: 'Units of its programs that are enabled.',
          maxItems: UNITS_MAX,
          items: word('A unit.'),
        },
        openAccounts: {
          type: 'array',
          description: 'Accounts that a password opens.',
          maxItems: ACCOUNTS_MAX,
          items: word('An account.'),
        },
        agents: {
          type: 'map',
          description: 'Installed versions of the agents.',
          maxProperties: 20,
          values: word('A version.'),
        },
      },
    },
    assertions: {
      type: 'map',
      description: 'What sshd -T says, by its keys.',
      maxProperties: LISTENERS_MAX,
      values: word('A value.'),
    },
  },
} as const satisfies ObjectSchema

export const STARTED = {
  type: 'object',
  description: 'It runs; with the address it was started with.',
  required: ['version'],
  properties: { version, publicIp, eipAllocId, instanceType, region },
} as const satisfies ObjectSchema

export const STOPPED = {
  type: 'object',
  description: 'It was stopped.',
  required: ['version'],
  properties: { version },
} as const satisfies ObjectSchema

export const RESIZING = {
  type: 'object',
  description: 'The size that it is to get.',
  required: ['version', 'sizeClass'],
  properties: { version, sizeClass: sizeClassField, diskGb: diskGbField, arch: archField, acknowledgeWorkAtRisk },
} as const satisfies ObjectSchema

export const STARTING = {
  type: 'object',
  description: 'It is to be started; asked before the cloud is.',
  required: ['version'],
  properties: { version, newAddress: flag('True when the start will allocate a further address.') },
} as const satisfies ObjectSchema

export const HALTING = {
  type: 'object',
  description: 'It is to be stopped.',
  required: ['version'],
  properties: { version },
} as const satisfies ObjectSchema

export const TERMINATING = {
  type: 'object',
  description: 'It is to be taken down; asked before anything is.',
  required: ['version'],
  properties: { version, acknowledgeWorkAtRisk },
} as const satisfies ObjectSchema

export const RESIZED = {
  type: 'object',
  description: 'The size that it has now, measured on the machine.',
  required: ['version', 'sizeClass', 'verifiedDf', 'state'],
  properties: {
    version,
    sizeClass: sizeClassField,
    arch: archField,
    diskGb: diskGbField,
    verifiedDf: {
      type: 'string',
      description: 'Size of the root file system as df says it, such as 50G.',
      pattern: '^[0-9]{1,9}([.][0-9]{1,3})?[MGT](i?B)?$',
      maxLength: 16,
    },
    state: {
      type: 'string',
      description: 'The state that it was left in.',
      enum: ['ready', 'running', 'stopped'],
    },
    publicIp,
    eipAllocId,
    instanceType,
  },
} as const satisfies ObjectSchema

export const RENAMED = {
  type: 'object',
  description: 'The name that it has now.',
  required: ['version', 'name'],
  properties: { version, name: nameField },
} as const satisfies ObjectSchema

export const EIP_RELEASED = {
  type: 'object',
  description: 'The address that was given back.',
  required: ['version', 'allocationId'],
  properties: { version, allocationId: { ...eipAllocId, description: 'Exactly the allocation that was released.' } },
} as const satisfies ObjectSchema

export const TERMINATED = {
  type: 'object',
  description: 'What is confirmed gone; what is not yet may be said later.',
  required: ['version', 'instanceGone', 'eipGone', 'volumesGone'],
  properties: {
    version,
    instanceGone: flag('The instance is gone.'),
    eipGone: flag('Every address that it held is released.'),
    volumesGone: flag('Its volumes are gone.'),
    instanceId: { ...instanceId, description: 'Which instance; the attached one when left out.' },
    acknowledgeWorkAtRisk,
  },
} as const satisfies ObjectSchema

export const REPO_CHANGE = {
  type: 'object',
  description: 'The repository to assign, with a fresh profile of it.',
  required: ['repo', 'profile'],
  properties: { repo: REPO, profile: PROFILE, version },
} as const satisfies ObjectSchema

export const ENV_CHANGE = {
  type: 'object',
  description: 'The whole environment; what stood there is replaced.',
  required: ['env'],
  properties: {
    env: {
      type: 'map',
      description: 'Values by name.',
      maxProperties: ENV_KEYS_MAX,
      values: { type: 'string', description: 'A value.', maxLength: ENV_VALUE_MAX },
    },
  },
} as const satisfies ObjectSchema

export const SHARE = {
  type: 'object',
  description: 'The team that may see it.',
  required: ['teamId'],
  properties: { teamId: { type: 'string', description: 'Id of a team.', minLength: 1, maxLength: 63 } },
} as const satisfies ObjectSchema

/** What a machine says of itself again in a report; what nobody asks of it there is left out. */
export type AttestedAgain = Pick<Infer<typeof FINALIZE>, 'assertions'> & {
  facts: Pick<Infer<typeof FINALIZE>['facts'], 'hostKeys' | 'units' | 'openAccounts' | 'agents'>
}

/** What each trigger's fact says, beside who said it. */
export type Said = {
  provisioning: Infer<typeof PROVISIONING>
  token: { hash: string }
  finalize: Infer<typeof FINALIZE>
  started: Infer<typeof STARTED>
  stopped: Infer<typeof STOPPED>
  resizing: Infer<typeof RESIZING>
  resized: Infer<typeof RESIZED>
  renamed: Infer<typeof RENAMED>
  'eip-released': Infer<typeof EIP_RELEASED>
  terminated: Infer<typeof TERMINATED>
  'cap-override': Record<string, never>
  repo: Infer<typeof REPO_CHANGE>
  measurements: Infer<typeof MEASUREMENTS>
  env: { key: string; keys: string[] }
  starting: Infer<typeof STARTING>
  halting: Infer<typeof HALTING>
  terminating: Infer<typeof TERMINATING>
  /** By the machine itself. */
  stopping: { reason: string }
  awake: Record<string, never>
  attested: AttestedAgain
  /** By the spec of the resource. */
  policy: { policy: Policy }
  'wish-power': { generation: number; wish: number; power: Power | null }
  'wish-size': { generation: number; wish: number; sizeClass: SizeClass; diskGb: number | null }
  /** By the clock. */
  lapse: Record<string, never>
  'override-lapse': Record<string, never>
  share: Infer<typeof SHARE>
  unshare: Infer<typeof SHARE>
  delete: Record<string, never>
}
export type Trigger = keyof Said
