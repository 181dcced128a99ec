import type { Duplex } from 'node:stream'

/** What the kinds see of a host: commands, files, routes, jobs. */

import type { OwnLooks } from '../../../crds/app/lifecycle/usage/traffic.ts'
import type { AddressRule } from '../../../crds/host/faults.ts'
import type { Inspection } from '../../../crds/host/inspect.ts'
import type { HostResource } from '../../../crds/host/plan.ts'
import type { HostCertificate, HostSpecClass } from '../../../crds/host/schema.ts'
import type { Log } from '../../base/log.ts'
import type { HostCredentials, RouteRow, RouteRows } from '../../store/host/hosts.ts'
import type { HostJobState, Job, JobWait } from './jobs.ts'
import type { Lane } from './pool.ts'
import type { RemoteBody, RemoteFence, RemoteScript, RunResult } from './remote.ts'
import type { AskedNames, RouteDrift, RouteStanding } from './routes.ts'

/** Stands round every call to a host: counts, or (in the crash sweep) dies. */
export type AroundHost = <R>(call: { name: string }, run: () => Promise<R>) => Promise<R>

export type RunInput = {
  script: RemoteScript
  /** Each is read by one `IFS= read -r`: no line feed, no NUL. */
  lines?: readonly string[]
  body?: RemoteBody
  /** For the channel, the command and its output together. */
  deadlineMs: number
  /** `work` when left out. `status` is for looking and cancelling: long work never fills it, and it carries no epoch. */
  lane?: Lane
  signal?: AbortSignal
  /** Of stdout; 1 MiB when left out. More ends the command with OutputTooLarge. */
  maxOutputBytes?: number
}

/**
 * One host's shell, as the user the host is registered with. Everything in the lane `work` and every change of a job
 * carries the leader's epoch: a leader that was replaced is refused by the host itself (StaleEpoch).
 * @throws HostUnreachable (a Waiting; `outcome` says whether the command may have run), HostKeyChanged, HostNotApproved,
 * HostMissing (Stalled), DeadlineExceeded, OutputTooLarge
 */
export type HostLink = {
  run(input: RunInput): Promise<RunResult>
  /** Starts the job, or finds it: gives how it stands, at its end if that comes in time. */
  startJob(job: Job, options?: JobWait): Promise<HostJobState>
  jobState(id: string, options?: JobWait): Promise<HostJobState>
  /** Ends the job's whole process group; gives how it stands then. An unknown id is marked, so that it never starts. */
  cancelJob(id: string): Promise<HostJobState>
  /** Forgets ended jobs with their folders. Running ones stay. */
  dropJob(id: string, ...more: readonly string[]): Promise<void>
}

/**
 * `handle` is a list of Caddy handlers, served for exactly these hostnames (lower case, without a port). Ids are
 * `[a-z0-9-]`, at most 100 long, unique on the host; `owner` is `Kind/name`.
 */
export type HostRoute = RouteRow

/**
 * The routes of one host's proxy. What is wanted stands in PostgreSQL, fenced; the proxy is made to follow, one call after
 * the other, and put back when it strays.
 * @throws as HostLink does; RouteTaken (Stalled) when a hostname belongs to another route of the host
 */
export type HostRoutes = {
  /**
   * Takes places under the limit of the host's CA for names that are about to be served; those that have a certificate need none.
   * Repeated it takes no more. @throws CaLimitReached (Stalled) until there is room
   */
  order(asked: AskedNames): Promise<void>
  /** Stores the route under its id and applies it. Equal to what is stored and served: nothing is changed. */
  set(route: HostRoute): Promise<void>
  remove(id: string): Promise<void>
  /** The route as the proxy has it now, with `@id`; null when it has none. */
  read(id: string): Promise<unknown>
  /** Whether the proxy has it just so. Only looks. */
  stands(route: HostRoute): Promise<boolean>
  /** The same by a reading of the whole proxy that was begun at most so long ago, and that all who ask share. Only looks. */
  standing(route: HostRoute, ageMaxMs: number): Promise<RouteStanding>
  /** Whether the proxy had lost it until `reconcile` put it back, and it was not set since. Asks nobody. */
  wasPutBack(id: string): boolean
  /** Requests in flight per upstream `host:port`, for draining; an address is gone once nothing names it or runs on it. */
  upstreams(): Promise<{ address: string; requests: number }[]>
  /** What strayed: nothing, some routes, or more than that. Only looks. */
  drift(): Promise<RouteDrift>
  /** Puts back what strayed. @returns what had */
  reconcile(): Promise<RouteDrift>
}

/** What is known of a host without asking it. */
export type LinkedHostFacts = {
  name: string
  /** Whose it is; null for one of the platform. */
  account: string | null
  class: HostSpecClass
  approved: boolean
  /** Approved, and found well at the last look. */
  ready: boolean
  arch: 'amd64' | 'arm64' | null
  baseDomain: string | null
  /** Where visitors reach it: an IP address, or a name. */
  publicAddress: string
  httpPort: number
  httpsPort: number
  /** Of the CA that its proxy asks; null: the public default. */
  acmeDirectory: string | null
  /** The folder of the sites' files; null when the host has none. */
  siteRoot: string | null
  takesSites: boolean
  /** Per app. */
  budget: { cpuMillis: number; memoryMib: number; diskGib: number }
  /** Of all apps together; null before it was inspected. */
  capacity: { cpuMillis: number; memoryMib: number; diskGib: number } | null
  /** Root in a container is nobody on the host. */
  remapsUsers: boolean
  /** It takes nothing new. */
  isCordoned: boolean
  /** Where builds take images from and what they reach beside that (null: every public address), the image that they run in and the one that they go through. */
  builds: { registries: readonly string[]; packages: readonly string[] | null; builder: string; gate: string }
}

export type VisitedPage = { hostname: string; path: string; limitMs: number }

export type Hosts = {
  link(name: string): HostLink
  routes(name: string): HostRoutes
  /** Null for an unknown name. */
  facts(name: string): LinkedHostFacts | null
  list(): LinkedHostFacts[]
  /** What the host says of itself now, over a connection of its own; also one that is not approved. */
  inspect(name: string, signal: AbortSignal): Promise<Inspection>
  /** A stream to where the host serves TLS, as a visitor reaches it. The caller ends it. */
  tls(name: string): Promise<Duplex>
  /** What is served for each hostname that has a route. */
  certificates(name: string): Promise<HostCertificate[]>
  /** The same of some hostnames, whether they have a route or not. */
  certificatesOf(name: string, hostnames: readonly string[]): Promise<HostCertificate[]>
  /** Who issued what is served for a hostname: the last certificate that is shown beside it, as base64 of its DER; null for none. */
  authorityOf(name: string, hostname: string): Promise<string | null>
  /** One GET as a visitor's, by the host's TLS port. `status` is null where nobody answered, and `detail` says why. */
  visit(name: string, page: VisitedPage): Promise<{ status: number | null; detail: string | null }>
  /** How often that was done since we began, and is being done, by hostname: the proxy counts it as anybody's. */
  visited(name: string): ReadonlyMap<string, OwnLooks>
  /** Whether there is a private key of the version that the spec names. */
  hasCredential(name: string): Promise<boolean>
  /** Which addresses the host may have. */
  addressRule(name: string): AddressRule
  /** The host is gone: its keys and routes go, and its connections end with what runs on them. */
  forget(name: string): Promise<void>
  /** Lets what runs end, then closes every connection. Jobs go on. */
  close(): Promise<void>
}

export type HostsDeps = {
  held: { get(key: string): HostResource | undefined; list(): HostResource[] }
  namespace: string
  credentials: HostCredentials
  rows: RouteRows
  fence: () => RemoteFence
  /** Owners may register loopback hosts (the development exception). */
  allowLoopback: boolean
  now: () => Date
  log: Log
  /** Stands round every command and every admin call. */
  around?: AroundHost
  /** A host knows a leader of a higher epoch than ours. */
  onAhead?: (mark: number) => void
}
