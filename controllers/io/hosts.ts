/**
 * Hosts that are driven over SSH: what controllers may ask of one. Everything goes over one small pool of connections per
 * host; the key is checked before anything is said to it, and a host that is not approved is refused.
 * Source: spec/2 "Apps"; research/sites-apps.md sections 2 (1-3, 24, 31) and 3 (SSH limits, Caddy admin API).
 */
import type { Readable } from 'node:stream'

/** A fixed script for a POSIX sh: its text is the whole remote command. Data only ever goes in on stdin. */
export type RemoteScript = { name: string; text: string }

/** What follows the lines on stdin. A stream says how many bytes it holds, so that a cut is told from its end. */
export type RemoteBody = Buffer | { stream: Readable; bytes: number }

/** `status` is the lane for looking and cancelling, which long work never fills. */
export type Lane = 'work' | 'status'

export type RunInput = {
  script: RemoteScript
  /** Each is read by one `IFS= read -r`: no line feed, no NUL. */
  lines?: readonly string[]
  body?: RemoteBody
  /** For the channel, the command and its output together. */
  deadlineMs: number
  /** `work` when left out. */
  lane?: Lane
  signal?: AbortSignal
  /** Of stdout; 1 MiB when left out. More ends the command with OutputTooLarge. */
  maxOutputBytes?: number
}

/** `code` is the script's own exit code: other than 0 is an answer, not an error. `stderr` holds its last 64 KiB. */
export type RunResult = { code: number; stdout: Buffer; stderr: string }

/** `log` holds the last 64 KiB of stdout and stderr together. A job killed from outside or by its limit has code 137. */
export type JobState =
  | { state: 'absent' }
  | { state: 'running' }
  | { state: 'exited'; code: number; log: string; cancelled: boolean }

/**
 * A detached job: it goes on when we are cut off or restart. The same id never runs twice on a host, whatever was lost
 * on the way; ids are `[a-z0-9-]`, at most 63 long, and name one step of one operation. Lines and body are its stdin;
 * its working directory is its own folder, which `dropJob` removes.
 */
export type Job = {
  id: string
  script: RemoteScript
  lines?: readonly string[]
  body?: RemoteBody
  /** The host itself ends the job then. */
  limitMs: number
}

/**
 * One host's shell, as the user the host is registered with. Everything in the lane `work` and every change of a job
 * carries the leader's epoch: a leader that was replaced is refused by the host itself (StaleEpoch).
 * @throws HostUnreachable (a Waiting; `outcome` says whether the command may have run), HostKeyChanged, HostNotApproved
 * and HostMissing (Stalled), DeadlineExceeded, OutputTooLarge
 */
export type HostLink = {
  run(input: RunInput): Promise<RunResult>
  /** Starts the job, or finds it: gives how it stands. */
  startJob(job: Job): Promise<JobState>
  jobState(id: string): Promise<JobState>
  /** Kills the job's whole process group; gives how it stands then. An unknown id is marked, so that it never starts. */
  cancelJob(id: string): Promise<JobState>
  /** Forgets an ended job with its folder. A running one stays. */
  dropJob(id: string): Promise<void>
}

/** `handle` is a list of Caddy handlers, served for exactly these hostnames. Names are lower case, without a port. */
export type HostRoute = { id: string; owner: string; hostnames: readonly string[]; handle: readonly unknown[] }

/** What a pass over a host's routes found: nothing to do, some that differed and were put back, or all of it lost. */
export type RouteDrift = 'none' | 'routes' | 'config'

/**
 * The routes of one host's proxy. What is wanted stands in PostgreSQL, fenced; the proxy is made to follow, one call after
 * the other, and put back when it strays.
 * @throws as HostLink does; RouteTaken when a hostname belongs to another route of the host
 */
export type HostRoutes = {
  /** Stores the route under its id and applies it. Equal to what is stored and served: nothing happens. */
  set(route: HostRoute): Promise<void>
  remove(id: string): Promise<void>
  /** The route as the proxy has it now, with `@id`; null when it has none. */
  read(id: string): Promise<unknown>
  /** Requests in flight per upstream `host:port`, for draining; an address is gone once nothing names it or runs on it. */
  upstreams(): Promise<{ address: string; requests: number }[]>
  /** Compares everything with what is stored and puts back what differs. */
  reconcile(): Promise<RouteDrift>
}

export type HostClass = 'shared' | 'isolated' | 'owned' | 'platform'

/** What is known of a host without asking it. */
export type HostFacts = {
  name: string
  /** Whose it is; null for one of the platform. */
  account: string | null
  class: HostClass
  approved: boolean
  /** Approved, inspected and reached at the last look. */
  ready: boolean
  arch: 'amd64' | 'arm64' | null
  baseDomain: string
  httpPort: number
  httpsPort: number
  /** The folder of the sites' files; null when the host takes none. */
  siteRoot: string | null
  takesSites: boolean
  /** Per app. */
  budget: { cpuMillis: number; memoryMib: number; diskGib: number }
}

export type Hosts = {
  link(name: string): HostLink
  routes(name: string): HostRoutes
  /** Null for an unknown name. */
  facts(name: string): HostFacts | null
  list(): HostFacts[]
  /** Told the name of a host whose facts changed, so that who waits for it is woken. @returns ends it */
  onChange(listener: (name: string) => void): () => void
  /** Lets what runs end, then closes every connection. Jobs go on. */
  close(): Promise<void>
}
