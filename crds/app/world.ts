/** What is known of an app when a pass over it is planned: rows of the ledger, and what its host answered. Instants are ISO. */
import type { Budget } from './compose/project.ts'
import type { EnvChoice } from './schema.ts'

/** In this order; each is done before the next begins. */
export const DEPLOY_STEPS = ['check', 'upload', 'images', 'start', 'switch'] as const
export type StepName = (typeof DEPLOY_STEPS)[number]
export type StepState = 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped'

export type OperationStep = {
  name: StepName
  state: StepState
  startedAt: string | null
  endedAt: string | null
  message: string | null
}

export const OPERATION_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'unknown'] as const
export type OperationState = (typeof OPERATION_STATES)[number]

/** What an operation was asked to do. An env version of null is an empty env. */
export type AppIntent =
  | { kind: 'deploy'; digest: string; envVersion: number | null; volumes: string[] }
  | { kind: 'rollback'; release: number; env: EnvChoice }
  | { kind: 'env'; envVersion: number }

export type Operation = {
  id: string
  app: string
  account: string
  /** Counts per app, in the order of asking. */
  n: number
  kind: AppIntent['kind']
  intent: AppIntent
  byController: boolean
  state: OperationState
  /** The release that it makes, once it has begun. */
  release: number | null
  code: string | null
  message: string | null
  createdAt: string
  startedAt: string | null
  endedAt: string | null
  cancelAt: string | null
  /** From here on visitors may reach the new release. */
  switchAt: string | null
  steps: OperationStep[]
}

/** Image of a service as it was found on the host: what is written, and what it was. */
export type PinnedImage = { service: string; name: string; id: string }

/** What is known of a release without a secret. */
export type ReleaseRecord = {
  images?: PinnedImage[]
  budget?: Budget
  route?: { service: string; port: number }
  /** Services in the base, which are handed over stop-first. */
  stateful?: string[]
  volumes?: string[]
  services?: string[]
  warnings?: string[]
  arch?: string
  /** The compose project of its stateless services; null when all are stateful. */
  project?: string | null
  /** What the routed service is called in its compose project. */
  listener?: string
}

export const RELEASE_STATES = ['building', 'starting', 'live', 'superseded', 'failed'] as const
export type ReleaseState = (typeof RELEASE_STATES)[number]

export type Release = {
  number: number
  id: string
  operation: string
  state: ReleaseState
  reason: string | null
  logTail: string | null
  restoredFrom: number | null
  source: string
  envVersion: number | null
  record: ReleaseRecord | null
  /** Names the sealed whole of it. */
  digest: string | null
  /** `host:port` on the host. */
  address: string | null
  createdAt: string
  liveAt: string | null
  supersededAt: string | null
  retiredAt: string | null
}

/** How a detached job on the host stands. */
export type JobState =
  | { state: 'absent' }
  | { state: 'running' }
  | { state: 'exited'; code: number; log: string; cancelled: boolean }

export type TargetHost = {
  name: string
  /** Whose it is; null for one of the platform. */
  account: string | null
  class: 'shared' | 'isolated' | 'owned' | 'platform'
  approved: boolean
  ready: boolean
  arch: 'amd64' | 'arm64' | null
  /** Null when it has none: nothing can be reached on it. */
  baseDomain: string | null
  /** A folder that the host's user may write and its proxy may read. */
  siteRoot: string | null
  httpsPort: number
  budget: Budget
  /** Root in a container is nobody on it. */
  remapsUsers: boolean
}

/** What runs of the live release, as last seen. `http` is the status that its routed port answered; null: nothing did. */
export type AppObservation = {
  at: string
  address: string | null
  /** Where the host's proxy is told to go; null when it is told nothing by a file. */
  dial: string | null
  running: string[]
  stopped: { service: string; code: number }[]
  http: number | null
  /** What the host's meter says: all that the app has on disk, in MiB. Null before it has looked. */
  disk: DiskUse | null
}

/** `isStopped`: it was more than the budget, and nothing of the app has run since. */
export type DiskUse = { usedMib: number; budgetMib: number; isStopped: boolean }

/** `since`: lines after this are wanted next. */
export type LogRequest = {
  id: string
  tail: number
  follow: boolean
  since: string | null
  fetchedAt: string | null
}

export type AppWorld = {
  account: { name: string; capabilities: readonly string[] } | null
  /** Null when there is no such host. */
  host: TargetHost | null
  /** Which app holds the name on its host; null when none does. */
  slugHolder: string | null
  /** In the order of asking: all that are open, and the last that ended. */
  operations: Operation[]
  /** Newest first: the live one, those of which something may still run, and some of the past. */
  releases: Release[]
  env: { version: number; keys: string[] } | null
  passwordVersion: number | null
  /** The route that was set last. */
  route: { digest: string; address: string } | null
  /** The job of the running operation's present step; null when it has none. */
  job: JobState | null
  /** Jobs that take superseded and failed releases down, by the release's number. */
  retiring: Readonly<Record<number, JobState>>
  /** Requests in flight per address of the proxy; null when it was not asked in this pass. */
  requests: Readonly<Record<string, number>> | null
  /** Null when it was not looked at in this pass and never before, or the host cannot be reached. */
  look: AppObservation | null
  /** Why the host cannot be reached now; null when it can, or was not asked. */
  unreachable: string | null
  logs: LogRequest[]
  publicUrl: string
  /** Opens the platform's pages on the app's own host to its proxy. */
  gateToken: string
}

export type AppRoute = { id: string; owner: string; hostnames: string[]; handle: unknown[] }
