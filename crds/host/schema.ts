/**
 * The Host: a machine that apps and sites are put on over SSH. `metadata.name` is the host's id; the private key is sealed
 * in PostgreSQL and the spec names its version only.
 * Source: rules/host.md#the-host.
 */
import { accountField } from '../kernel/fields.ts'
import { COMMON_STATUS } from '../kernel/kind.ts'
import type { Infer, ObjectSchema } from '../kernel/schema.ts'
import { BUILD_FIELDS, DOMAIN_PATTERN } from './builds.ts'
import { ENGINE_RESTART } from './restart.ts'

export const CLASSES = ['shared', 'isolated', 'owned', 'platform'] as const
export const PHASES = ['registered', 'inspected', 'approved', 'unreachable', 'key_changed'] as const
export const NETWORKS = ['guarded', 'open'] as const
export const USERS = ['remapped', 'plain'] as const
export const BUILDS = ['cells', 'refused'] as const
export const CERTIFICATE_STATES = ['valid', 'expiring', 'expired', 'mismatch', 'missing'] as const
/** More than these are measured, but not shown: the worst come first. */
export const CERTIFICATES_SHOWN_MAX = 100
export const HOST_KEY_PATTERN = '^(ssh-ed25519|ecdsa-sha2-nistp(256|384|521)|ssh-rsa) [A-Za-z0-9+/]+={0,2}$'

const port = (description: string, fallback: number) =>
  ({ type: 'integer', description, minimum: 1, maximum: 65_535, default: fallback }) as const

const path = (description: string) =>
  ({ type: 'string', description, minLength: 2, maxLength: 255, pattern: '^/[A-Za-z0-9._/-]+$' }) as const

const amount = (description: string, [fallback, maximum]: [number, number]) =>
  ({ type: 'integer', description, minimum: 1, maximum, default: fallback }) as const

const proxy = {
  type: 'object',
  description: "How the host's Caddy is reached and what it listens on.",
  properties: {
    admin: {
      type: 'string',
      description: 'Its admin endpoint as the host sees it: the path of a socket, or 127.0.0.1 and a port.',
      maxLength: 255,
      pattern: '^(/[A-Za-z0-9._/-]{1,100}|127\\.0\\.0\\.1:[0-9]{1,5})$',
      default: '127.0.0.1:2019',
    },
    bind: {
      type: 'string',
      description: 'The address it serves on; all of them when left out.',
      maxLength: 45,
      pattern: '^[0-9a-f.:]{2,45}$',
    },
    httpPort: port('Where it redirects from, and answers challenges.', 80),
    httpsPort: port('Where it serves.', 443),
    acme: {
      type: 'object',
      title: 'AcmeIssuer',
      description: 'Who issues certificates; the public default when left out.',
      required: ['directory'],
      properties: {
        directory: {
          type: 'string',
          description: 'Address of the ACME directory.',
          maxLength: 2048,
          pattern: '^https://[^\\s]+$',
        },
        email: { type: 'string', description: 'Told by the CA of what goes wrong.', maxLength: 254, 'x-text': 'line' },
        rootsFile: path('A PEM file on the host with the roots that the directory is trusted by.'),
      },
    },
    certificatesPerWeek: {
      type: 'integer',
      description:
        'New certificates that its CA gives a registered domain within seven days; 0 for as many as are asked for. When left out 50, what the public default gives, and as many as are asked for with acme.',
      minimum: 0,
      maximum: 100_000,
    },
  },
} as const satisfies ObjectSchema

const budget = {
  type: 'object',
  description: 'What one app may use.',
  properties: {
    cpuMillis: amount('Thousandths of a CPU.', [1_000, 1_000_000]),
    memoryMib: amount('MiB of memory.', [1_024, 16_777_216]),
    diskGib: amount('GiB of disk.', [10, 1_048_576]),
  },
} as const satisfies ObjectSchema

const percent = (description: string) => ({ type: 'integer', description, minimum: 1, maximum: 10_000 }) as const

const overcommit = {
  type: 'object',
  description: 'What all apps may have together, in hundredths of what the machine has.',
  properties: {
    cpuPercent: percent('Of its processors; 1600 when left out.'),
    memoryPercent: percent('Of its memory; 200 when left out.'),
    diskPercent: percent('Of its disk; 200 when left out.'),
  },
} as const satisfies ObjectSchema

export const spec = {
  type: 'object',
  description: 'Where the host is, who it is known by, and what it takes.',
  required: ['address', 'user', 'hostKey'],
  properties: {
    account: { ...accountField, description: 'The Account that registered it; none for a host of the platform.' },
    name: { type: 'string', description: 'What people call it.', maxLength: 200, default: '', 'x-text': 'line' },
    class: {
      type: 'string',
      description: 'shared, isolated or owned enforce the rules for compose files; platform warns only.',
      enum: CLASSES,
      default: 'owned',
    },
    address: {
      type: 'string',
      description: 'Name or IP address.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$|^::1$',
      'x-code': 'BAD_HOST_ADDRESS',
    },
    publicAddress: {
      type: 'string',
      description: 'Where visitors reach it, which partners point their domains to; the address when left out.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$',
      'x-code': 'BAD_HOST_ADDRESS',
    },
    port: port('Port of the SSH server.', 22),
    user: { type: 'string', description: 'Who to log in as.', maxLength: 32, pattern: '^[a-z_][a-z0-9_-]{0,31}$' },
    hostKey: {
      type: 'string',
      description: 'The public key that the host must show, as in an authorized_keys line, without a comment.',
      maxLength: 2048,
      pattern: HOST_KEY_PATTERN,
      'x-code': 'BAD_HOST_KEY',
    },
    credentialVersion: {
      type: 'integer',
      description: 'Which sealed private key to log in with; 0 for none yet.',
      minimum: 0,
      default: 0,
      'x-rest': 'hidden',
    },
    approved: {
      type: 'boolean',
      description: 'Work may run on it. Lost when address, port, user or host key change.',
      default: false,
      'x-rest': 'hidden',
    },
    withdrawn: {
      type: 'string',
      description: 'Why its approval was withdrawn. Goes with the next approval.',
      minLength: 1,
      maxLength: 500,
      'x-text': 'line',
      'x-rest': 'hidden',
    },
    cordoned: {
      type: 'boolean',
      description: 'It takes no new apps and sites; what is there stays, and is changed as before.',
      default: false,
    },
    baseDomain: {
      type: 'string',
      description: 'Apps and sites get names under it.',
      maxLength: 200,
      pattern: DOMAIN_PATTERN,
    },
    proxy,
    siteRoot: path("The folder of the sites' files, which the host's user may write and its Caddy may read."),
    ...BUILD_FIELDS,
    takesSites: { type: 'boolean', description: 'Sites are published on it.', default: false },
    budget,
    overcommit,
  },
} as const satisfies ObjectSchema

const version = (description: string) => ({ type: 'string', description, maxLength: 64 }) as const

const certificate = {
  type: 'object',
  description: 'What is served for one hostname, found by connecting to it.',
  required: ['hostname', 'state'],
  properties: {
    hostname: { type: 'string', description: 'The name that was asked for.', maxLength: 253 },
    notAfter: { type: 'string', description: 'When it runs out.', format: 'date-time', maxLength: 64 },
    issuer: { type: 'string', description: 'Who issued it.', maxLength: 253 },
    state: { type: 'string', description: 'How it stands.', enum: CERTIFICATE_STATES },
  },
} as const satisfies ObjectSchema

export const status = {
  type: 'object',
  description: 'What was found on the host. Written by the operator alone.',
  properties: {
    ...COMMON_STATUS,
    phase: { type: 'string', description: `One word for display: ${PHASES.join(', ')}.`, maxLength: 32 },
    hostKeyFingerprint: { type: 'string', description: 'Of the pinned key: SHA256 in base64.', maxLength: 64 },
    arch: { type: 'string', description: 'amd64 or arm64.', maxLength: 16 },
    versions: {
      type: 'object',
      description: 'What runs on it.',
      properties: {
        kernel: version('Of the kernel.'),
        docker: version('Of the Docker engine.'),
        compose: version('Of Docker Compose.'),
        caddy: version('Of Caddy.'),
      },
    },
    disk: {
      type: 'object',
      description: 'Of the file system that images and volumes are kept on.',
      properties: {
        totalGib: { type: 'integer', description: 'All of it.' },
        freeGib: { type: 'integer', description: 'What is free.' },
      },
    },
    capacity: {
      type: 'object',
      description: 'What the machine has.',
      properties: {
        cpuMillis: { type: 'integer', description: 'Thousandths of a processor.' },
        memoryMib: { type: 'integer', description: 'MiB of memory.' },
        diskGib: { type: 'integer', description: 'GiB of disk.' },
      },
    },
    isolation: {
      type: 'object',
      description: 'What keeps its apps apart, as it was found.',
      required: ['network', 'users'],
      properties: {
        network: {
          type: 'string',
          description: 'guarded: apps reach no other app, not the host, and no private network.',
          enum: NETWORKS,
        },
        users: {
          type: 'string',
          description:
            'remapped: root in a container is nobody on the host. plain: containers that begin as root are refused.',
          enum: USERS,
        },
        builds: {
          type: 'string',
          description:
            'cells: each app is built in a container of its own. refused: nothing is built, for root in a container is root on the host.',
          enum: BUILDS,
        },
      },
    },
    engineRestart: ENGINE_RESTART,
    certificates: {
      type: 'array',
      description: `What is served, the worst first; at most ${CERTIFICATES_SHOWN_MAX}.`,
      maxItems: CERTIFICATES_SHOWN_MAX,
      'x-list': { map: 'hostname' },
      items: certificate,
    },
  },
} as const satisfies ObjectSchema

export type HostSpec = Infer<typeof spec>
export type HostStatus = Infer<typeof status>
export type HostCertificate = Infer<typeof certificate>
export type HostSpecClass = (typeof CLASSES)[number]
export type HostPhase = (typeof PHASES)[number]
/** The proxy's settings with their defaults. */
export type ProxySettings = Infer<typeof proxy>
