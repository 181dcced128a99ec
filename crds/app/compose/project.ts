/**
 * A compose project as we run it: rebuilt from what we know, never a copy of what was sent. Nothing is in here that is
 * not named in these types.
 *
 * What is kept between releases is apart from what is replaced with each one:
 * - **base**: stateful services (those with a named volume or with `x-bottega-stateful: true`, and whatever they depend
 *   on) and all volumes. They belong to the app: one compose project `<slug>-base` for its whole life, with volume names
 *   that never change. A changed service of it is handed over stop-first.
 * - **release**: all other services. Each release is a project of its own, `<slug>-r<number>`, started beside the one
 *   before and switched to once it is healthy.
 *
 * Inside a release a service is called `<name>-r<number>` and has `<name>` as its alias on the release's own networks,
 * but not on the networks of the base, which it joins too: so `db` is found from both releases while two of them run,
 * and `api` always means the api of the same release.
 */

/** What is enforced for the app by its host, and what it may use in all. */
export type HostClass = 'shared' | 'isolated' | 'owned' | 'platform'
export type Arch = 'arm64' | 'amd64'
export const MIB_PER_GIB = 1_024
/** Containers of one service. */
export const REPLICAS_MAX = 8
export type Budget = { cpuMillis: number; memoryMib: number; diskGib: number }

/** What a project is judged against. */
export type DeployTarget = {
  slug: string
  /** The app's env: given to every service and to `${KEY}`; nothing else is ever put in. */
  env: Readonly<Record<string, string>>
  route: { service?: string; port?: number } | null
  budget: Budget
  hostClass: HostClass
  arch: Arch
  /** Root in a container is nobody on the host. */
  remapsUsers: boolean
  /** Of the routed service, as the app says; null or left out: as the file does, or one. */
  replicas?: number | null
}

export type StartCondition = 'service_started' | 'service_healthy' | 'service_completed_successfully'

/** Durations in whole milliseconds. */
export type Health =
  | { disable: true }
  | { test?: string | string[]; intervalMs?: number; timeoutMs?: number; startPeriodMs?: number; retries?: number }

export type Mount =
  | { type: 'volume'; source: string; target: string; readOnly: boolean }
  /** A volume without a name: gone with its container. */
  | { type: 'anonymous'; target: string }
  /** A file or folder of the bundle, always read-only. `digest` names its content. */
  | { type: 'bind'; source: string; target: string; digest: string; isFile?: true }
  /** A secret or config that is no file of the bundle, always read-only. `digest` names its text. */
  | { type: 'text'; target: string; text: string; digest: string }
  | { type: 'tmpfs'; target: string; sizeBytes: number; mode?: number }

export type Build = {
  /** Folder in the bundle, `.` for its root. */
  context: string
  /** From the context; absent with `dockerfileInline`. */
  dockerfile?: string
  dockerfileInline?: string
  target?: string
  args: Record<string, string>
  noCache: boolean
  pull: boolean
}

export type ServiceLimits = { cpuMillis: number; memoryBytes: number; pids: number }

/** Keys that only the platform's own host passes on, as they were written, each with a warning. */
export type KeptSetting = Record<string, unknown>

export type ComposeService = {
  name: string
  stateful: boolean
  /** Others wait for it to end well: a migration. */
  oneShot: boolean
  /** Fully written: registry, path, tag or digest. For a build a name of ours that ends in the digest of what is built. */
  image: string
  build: Build | null
  command?: string | string[] | null
  entrypoint?: string | string[] | null
  environment: Record<string, string>
  dependsOn: Record<string, { condition: StartCondition; restart: boolean }>
  health: Health | null
  mounts: Mount[]
  /** Names of networks of the project, each with further aliases. */
  networks: Record<string, string[]>
  /** TCP ports that it listens on, as far as it says. */
  ports: number[]
  restart: string
  limits: ServiceLimits
  /** Capabilities that it begins with. Absent in what was sealed before there were any. */
  rights?: string[]
  init: boolean
  readOnly: boolean
  user?: string
  workingDir?: string
  hostname?: string
  stopSignal?: string
  stopGracePeriodMs?: number
  shmBytes?: number
  /** Open files. */
  nofile?: number
  tty?: boolean
  stdinOpen?: boolean
  kept: KeptSetting
}

export type Network = { name: string; internal: boolean }

export type Project = {
  slug: string
  /** GiB that all of it may have on the disk of its host. Absent in what was sealed before it was metered. */
  diskGib?: number
  /** Sorted by name, as are networks and volumes. */
  services: ComposeService[]
  networks: Network[]
  volumes: string[]
  /** Of the routed service side by side. Absent for one. */
  replicas?: number
  /** Where the visitors go. */
  route: { service: string; port: number }
  /** Names only. `missing`: asked for by `${KEY}` without a default, and not set. */
  env: { used: string[]; missing: string[] }
}
