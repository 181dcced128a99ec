/**
 * The cloud-init user data of a dev instance: secret-free, every installer pinned, the same for every class, so a resize keeps its
 * digest. It is for an image with systemd 253 or later and cloud-init 23.4 or later (Debian 13, Ubuntu 24.04). The key that
 * opens the dev instance is that of the launch: cloud-init gives it to the user it makes. Source:
 * rules/devinstance.md#bootstrap.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { SizeArch } from '../sizing/sizes.ts'
import { AGENTS, type AgentId, type Archive, NODE_ARCHIVES } from './agents.ts'
import { attestScript } from './attest.ts'
import { DOCKER_SETTINGS, dockerPath, dockerScript, dockerService } from './docker.ts'
import { envScript, profileScript, tokenScript } from './handed.ts'
import { idleScript } from './idle.ts'
import { DEV_USER, PREFIX } from './places.ts'
import {
  bakeScript,
  commandScript,
  installScript,
  launchScript,
  provisionScript,
  type Remote,
  remoteScript,
} from './provision.ts'
import { reporterScript } from './reporter.ts'
import { SSHD_DROP_IN, sshdDropIn } from './sshd.ts'
import { UNITS } from './units.ts'
import { unsealScript } from './unseal.ts'

/** EC2 takes user data up to 16 KB, before base64. */
export const USER_DATA_BYTES_MAX = 16_384

export type BootstrapInput = {
  /** Becomes the host name. */
  name: string
  arch: SizeArch
  agents: readonly AgentId[]
  repo?: { url: string; ref?: string } | undefined
}

/** `bytes` are to be served as they are, without a content encoding: `sha256` (hex) is taken over them. */
export type Bootstrap =
  | { ok: true; bytes: Buffer; contentType: 'text/plain; charset=utf-8' | 'application/gzip'; sha256: string }
  | { ok: false; code: 'BOOTSTRAP_TOO_LARGE'; detail: string }

/** `https://user:secret@host/…` would be readable on the dev instance, and to whoever may describe it. */
const SECRET_IN_URL = /^https?:\/\/[^/@]*@|:\/\/[^/:]*:[^/@]*@/
const HOST_NAME_MAX = 63

/** The name as a host name: `My_Box.1` → `my-box-1`. */
const hostNameOf = (name: string): string => {
  const hostName = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, HOST_NAME_MAX)
    .replace(/^-|-$/g, '')
  return hostName === '' ? DEV_USER : hostName
}

/** A ref that is the name of a branch, and neither a commit nor a tag spelled out. */
const isBranchName = (ref: string): boolean =>
  /^[A-Za-z0-9._/-]{1,200}$/.test(ref) && !/^(?:refs\/|-)/.test(ref) && !/^[0-9a-f]{7,64}$/.test(ref)

/** What all agents together may take of the memory before one is ended; the rest keeps sshd, git and the work alive. */
const AGENTS_MEMORY = '75%'

const PACKAGES = [
  'build-essential',
  'ca-certificates',
  'curl',
  'dbus-user-session',
  'git',
  'git-lfs',
  'python3',
  'tmux',
  'unattended-upgrades',
]

/** The user data of a dev instance. @throws AssertionError when the repository's address holds a secret: its schema lets none through */
export const bootstrapOf = (input: BootstrapInput): Bootstrap => served(cloudConfig(input))

/**
 * What is served of a text: the text, or its gzip when it is over 16 KB (cloud-init unpacks it by itself). The gzip has no
 * time and no system in its header, so the same build gives the same bytes.
 */
export const served = (text: string): Bootstrap => {
  const plain = Buffer.from(text, 'utf8')
  if (plain.length <= USER_DATA_BYTES_MAX) return answer(plain, 'text/plain; charset=utf-8')
  const packed = gzipSync(plain, { level: 9 })
  packed.fill(0, GZIP_TIME, GZIP_TIME + 4)
  packed[GZIP_SYSTEM] = GZIP_SYSTEM_UNKNOWN
  if (packed.length <= USER_DATA_BYTES_MAX) return answer(packed, 'application/gzip')
  const detail = `the bootstrap is ${plain.length} bytes and ${packed.length} packed; user data may have ${USER_DATA_BYTES_MAX}`
  return { ok: false, code: 'BOOTSTRAP_TOO_LARGE', detail }
}

/** Places in the header of RFC 1952. */
const GZIP_TIME = 4
const GZIP_SYSTEM = 9
const GZIP_SYSTEM_UNKNOWN = 255

const answer = (bytes: Buffer, contentType: 'text/plain; charset=utf-8' | 'application/gzip'): Bootstrap => ({
  ok: true,
  bytes,
  contentType,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

type BootstrapFile = { path: string; mode: '0644' | '0755'; content: string }

const cloudConfig = (input: BootstrapInput): string => `#cloud-config
hostname: "${hostNameOf(input.name)}"
user:
  name: "${DEV_USER}"
  gecos: "Dev instance"
  shell: "/bin/bash"
  lock_passwd: true
  sudo: "ALL=(ALL) NOPASSWD:ALL"
users:
  - default
disable_root: true
ssh_pwauth: false
ssh_deletekeys: true
ssh_genkeytypes: ["ed25519", "ecdsa"]
package_update: true
packages: ${JSON.stringify(PACKAGES)}
write_files:
${filesOf(input).map(fileEntry).join('')}runcmd:
  - ["${PREFIX}/bin/provision"]
`

const SYSTEM_UNITS = '/etc/systemd/system'

const filesOf = ({ arch, agents, repo }: BootstrapInput): BootstrapFile[] => {
  const chosen = [...new Set(agents)].sort().map((id) => ({ id, ...AGENTS[id] }))
  const installed = chosen.map(({ id, archives }) => ({ id, folder: archives[arch][0]?.folder ?? '' }))
  return [
    file(SSHD_DROP_IN, sshdDropIn()),
    file('/etc/systemd/user/agents.slice', `[Slice]\nMemoryMax=${AGENTS_MEMORY}\nMemorySwapMax=0\n`),
    // when memory runs out, the process that took it ends, and not the whole session with it
    file('/etc/systemd/user.conf.d/01-bottega.conf', '[Manager]\nDefaultOOMPolicy=continue\n'),
    file('/etc/gemini-cli/settings.json', `${JSON.stringify({ general: NO_UPDATES })}\n`),
    program('bin/install', installScript(archivesOf(arch, chosen))),
    program('bin/bake', bakeScript()),
    program('bin/launch', launchScript()),
    program('bin/make-remote', remoteScript(remoteOf(repo))),
    program('bin/provision', provisionScript()),
    program('bin/report', reporterScript(installed)),
    program('bin/idle', idleScript()),
    program('bin/token', tokenScript()),
    program('bin/env', envScript()),
    file(`${PREFIX}/bin/unseal`, unsealScript()),
    program('bin/attest', attestScript(installed)),
    program('bin/docker', dockerScript()),
    file('/etc/profile.d/bottega.sh', profileScript()),
    file('/etc/docker/daemon.json', `${JSON.stringify(DOCKER_SETTINGS)}\n`),
    file(`${SYSTEM_UNITS}/docker-wanted.path`, dockerPath()),
    file(`${SYSTEM_UNITS}/docker-wanted.service`, dockerService(`${PREFIX}/bin/docker`)),
    ...Object.entries(UNITS).map(([name, content]) => file(`${SYSTEM_UNITS}/${name}`, content)),
    ...chosen.map(({ id, command, program: parts }): BootstrapFile => {
      return { path: `/usr/local/bin/${command}`, mode: '0755', content: commandScript(id, parts[arch]) }
    }),
  ]
}

const NO_UPDATES = { enableAutoUpdate: false, enableAutoUpdateNotification: false }

const archivesOf = (
  arch: SizeArch,
  chosen: readonly { archives: Readonly<Record<SizeArch, readonly Archive[]>> }[],
) => [...NODE_ARCHIVES[arch], ...chosen.flatMap(({ archives }) => archives[arch])]

const remoteOf = (repo: BootstrapInput['repo']): Remote | undefined => {
  if (!repo) return undefined
  assert(!SECRET_IN_URL.test(repo.url), 'the address of a repository holds no secret')
  const isBranch = repo.ref !== undefined && isBranchName(repo.ref) && !repo.ref.includes('..')
  return { url: repo.url, branch: isBranch && repo.ref !== undefined ? repo.ref : 'main' }
}

const file = (path: string, content: string): BootstrapFile => ({ path, mode: '0644', content })
const program = (path: string, content: string): BootstrapFile => ({ path: `${PREFIX}/${path}`, mode: '0755', content })

/** One entry of write_files. The content is a block scalar, whose lines are told by their indentation. */
const fileEntry = ({ path, mode, content }: BootstrapFile): string => {
  const lines = content.trimEnd().split('\n')
  const block = lines.map((text) => (text === '' ? '' : `      ${text}`)).join('\n')
  return `  - path: "${path}"
    owner: "root:root"
    permissions: "${mode}"
    content: |
${block}
`
}
