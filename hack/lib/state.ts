import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Tokens, Welcome } from '../platform/platform.ts'
import { identityOf, readJson, writeWhole } from './files.ts'
import { type ProcessId, startOf } from './processes.ts'

/** What `hack/up` and `hack/test` keep in `.bottega/`, one place for every path in it. */

export const root = join(import.meta.dirname, '..', '..')
/** Another folder makes another platform beside the one that a developer has running: for tests of these commands. */
export const stateDir = process.env.BOTTEGA_STATE_DIR ?? join(root, '.bottega')
const at = (...names: string[]) => join(stateDir, ...names)

export const paths = {
  logs: at('logs'),
  mail: at('mail'),
  env: at('env.json'),
  supervisor: at('supervisor.json'),
  secrets: at('secrets.json'),
  secretKey: at('secret-key'),
  ports: at('ports.json'),
  hostPorts: at('host-ports.json'),
  kind: at('kind.json'),
  postgres: at('pg'),
  controlPlane: at('control-plane'),
  adminKubeconfig: at('admin.kubeconfig'),
  controllersKubeconfig: at('controllers.kubeconfig'),
  apiKubeconfig: at('api.kubeconfig'),
  bundles: at('bundles'),
  copies: at('copies'),
  compiled: at('compiled'),
  linearPatterns: at('linear-patterns.json'),
  testTurns: at('test-turns.json'),
} as const

/** What is made again from the sources, and what tests remember: no data of a platform, and in use while tests run. */
export const caches: readonly string[] = [
  paths.bundles,
  paths.compiled,
  paths.copies,
  paths.linearPatterns,
  paths.testTurns,
]

/** `.bottega/env.json`: how tests, scripts and people reach what runs (rules/platform.md#the-running-platform). */
export type UpEnvironment = {
  baseUrl: string
  metricsUrls: string[]
  kubeconfig: string
  databaseUrl: string
  mailDir: string
  namespace: string
  tokens: Tokens
  operatorPid: number
  apiPid: number
  supervisorPid: number
  hosts?: HostEnvironment
  /** The server of names that domains are proven by (`--with dns`, or `hosts`). */
  dns?: { server: string; controlUrl: string }
  /** Dev instances that are containers (`--with boxes`): the key that opens them, and whose they are. */
  boxes?: { identityFile: string; dockerHost: string }
  cards?: CardsEnvironment
  llm?: LlmEnvironment
}

/** The card processor's stand-in (`--with cards`). */
export type CardsEnvironment = { webhookSecret: string; webhookPath: string; apiBase: string; secretKey: string }

/** The language model's stand-in (`--with llm`); `url` is that of its OpenAI-compatible endpoints. */
export type LlmEnvironment = { url: string }

export type Supervisor = ProcessId & { welcome?: Welcome }
export type Ports = Partial<
  Record<'api' | 'apiMetrics' | 'controllersMetrics' | 'mail' | 'cards' | 'llm' | 'postgres', number>
>
export type Secrets = { secretKey: string; tokens?: Tokens; tokensOf?: string }

/** Makes the folders; enterable by others, because PostgreSQL may run as another user, while every secret file is 0600. */
export function makeStateFolders(): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o755 })
  for (const folder of [paths.logs, paths.mail]) mkdirSync(folder, { recursive: true })
}

/** Names this checkout's platform to the kernel: in the lock, and in the environment of every process it starts. */
export function ownerName(): string {
  return `up-${identityOf(stateDir)}`
}

/** The running supervisor of this checkout, by what it noted and what /proc says, or null. */
export function findSupervisor(): ProcessId | null {
  const noted = readJson<Supervisor>(paths.supervisor)
  return noted !== null && startOf(noted.pid) === noted.start ? noted : null
}

/** env.json, but only when it was written by the supervisor that runs now. */
export function readEnvironment(): UpEnvironment | null {
  const environment = readJson<UpEnvironment>(paths.env)
  const supervisor = findSupervisor()
  return environment !== null && supervisor !== null && environment.supervisorPid === supervisor.pid
    ? environment
    : null
}

/** The first server key and the demo tokens, for as long as the data are there. */
export function readSecrets(): Secrets {
  const kept = readJson<Secrets>(paths.secrets)
  if (kept !== null) return kept
  const made: Secrets = { secretKey: randomBytes(32).toString('base64') }
  writeSecrets(made)
  return made
}

/** What the processes read: their keys, the newest first, one a line (hack/rotate-key changes them). */
export function readSecretKey(): string {
  if (!existsSync(paths.secretKey)) writeSecretKey([readSecrets().secretKey])
  return readFileSync(paths.secretKey, 'utf8')
}

export function writeSecretKey(keys: readonly string[]): void {
  writeWhole(paths.secretKey, `${keys.join('\n')}\n`)
}

export function writeSecrets(secrets: Secrets): void {
  writeWhole(paths.secrets, JSON.stringify(secrets, null, 2))
}

/** Written by others than the supervised processes: the supervisor's own output, and npm's. */
const shared = new Set(['supervisor.log', 'npm.log'])

/** Every start has logs of its own; those of the one before are kept beside them as `.1`. */
export function rotateLogs(): void {
  for (const name of readdirSync(paths.logs).filter((file) => file.endsWith('.log'))) {
    const path = join(paths.logs, name)
    if (!shared.has(name) && existsSync(path)) renameSync(path, `${path}.1`)
  }
}

/** What env.json says of it. */
export type HostEnvironment = {
  sshPort: number
  httpPort: number
  httpsPort: number
  caCert: string
  baseDomain: string
}
