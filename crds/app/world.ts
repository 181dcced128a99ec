/** What is known of an app when a pass over it is planned: rows of the ledger, and what its host answered. Instants are ISO. */
import type { ComposeChange } from './compose/finding.ts'
import type { Budget, ServiceLimits } from './compose/project.ts'
import type { ContainerSeen, Episode, ReleasePart, ReleaseWatch } from './lifecycle/health/seen.ts'
import type { AppBackup } from './lifecycle/keeping/backups/backup.ts'
import type { CarryOf } from './lifecycle/keeping/moving/held.ts'
import type { LetInNote } from './lifecycle/publishing/letin.ts'
import type { AppNaming, ReachSeen } from './lifecycle/publishing/naming.ts'
import type { PreviewsWorld } from './lifecycle/publishing/previewed.ts'
import type { AppRun, RunsWorld } from './runs/run.ts'
import type { ReleaseCommands } from './runs/schema.ts'
import type { EnvChoice } from './schema.ts'

/** In this order; each is done before the next begins. */
export const DEPLOY_STEPS = ['check', 'upload', 'images', 'start', 'switch'] as const
/** Of a scale, which makes no release. */
export const SCALE_STEPS = ['start', 'switch'] as const
/** With the command that comes before a release, where the app has one, and what a move carries of what it keeps. */
export const STEP_NAMES = ['check', 'upload', 'images', 'pre_release', 'volumes', 'start', 'switch'] as const
export type StepName = (typeof STEP_NAMES)[number]
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
export type AppIntent = (
  | { kind: 'deploy'; digest: string; envVersion: number | null; volumes: string[] }
  | { kind: 'rollback'; release: number; env: EnvChoice }
  | { kind: 'env'; envVersion: number }
  /** `forwardSeconds`: how long visitors who come to the host of before are sent on. */
  | { kind: 'move'; host: string; forwardSeconds: number }
  | { kind: 'scale'; replicas: number }
) & {
  /** Whoever asked knows that a service stops for it. */
  downtime?: true
}

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
  /** The release that it makes, once it has begun; of a scale the one that was live then. */
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
  /** What the app has run with it, as its spec said when it began. */
  commands: ReleaseCommands | null
  /** The runs of these, in their order. */
  runs: Pick<AppRun, 'id' | 'cause' | 'attempt' | 'state' | 'message' | 'startedAt' | 'endedAt'>[]
}

/** Image of a service as it was found on the host: what is written, and what it was. */
export type PinnedImage = { service: string; name: string; id: string }

/** `name`: in its compose project. `address`: null where it is known to take nobody. `since`: ISO; null until visitors are led elsewhere. */
export type LeavingReplica = { name: string; address: string | null; since: string | null }

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
  /** What runs otherwise than its compose file was written. Absent in releases of before that was told. */
  changes?: ComposeChange[]
  arch?: string
  /** Where it is. Absent in one of which nothing ever was anywhere. */
  host?: string
  /** The compose project of its stateless services; null when all are stateful. */
  project?: string | null
  /** What the routed service is called in its compose project. */
  listener?: string
  /** Nothing of it is kept but this record. */
  isPurged?: true
  /** What each service runs with, where that was changed since it was started. */
  limits?: Record<string, ServiceLimits>
  /** Containers of the routed service side by side; one where nothing is said. */
  replicas?: number
  /** What a scale is about to lead visitors to, and which of those that serve leave then. */
  scaling?: { address: string; leaving: LeavingReplica[] }
  /** Replicas that visitors are not led to any more: they end what was begun there, and go. */
  leaving?: LeavingReplica[]
  /** All containers that have to be there. Absent in what was sealed before anybody looked for them. */
  parts?: ReleasePart[]
  /** Since it went live. */
  watch?: ReleaseWatch
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
  /** The upload that it was made from is still there; so it is where nothing is said. */
  sourceKept?: boolean
  envVersion: number | null
  record: ReleaseRecord | null
  /** Names the sealed whole of it. */
  digest: string | null
  /** `host:port` on the host; of several replicas the address of each, in their order, by commas. */
  address: string | null
  createdAt: string
  liveAt: string | null
  supersededAt: string | null
  retiredAt: string | null
}

/** What has come of a job's log since it was read last: the bytes from `from` to `to`, in whole lines. */
export type JobOutput = { from: number; to: number; text: string }

/** How a detached job on the host stands. `output`: what of its log is to be kept now. */
export type JobState =
  | { state: 'absent' }
  | { state: 'running'; output?: JobOutput }
  | { state: 'exited'; code: number; log: string; cancelled: boolean; output?: JobOutput }

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
  /** What all its apps may have together; null where that is not known. */
  capacity: Budget | null
  /** Root in a container is nobody on it. */
  remapsUsers: boolean
  /** It takes nothing new. */
  isCordoned: boolean
}

/** `until`: of a host that was left, when what is there goes (ISO). */
export type AppPlace = { host: string; place: 'home' | 'coming' | 'left'; until: string | null }

/** What is seen of the host that an app moves to. `placed` (the address that its route there leads to), `isForwarded`: done in this pass. */
export type Moving = {
  target: TargetHost | null
  /** Where visitors reach it. */
  address: string
  /** Why it cannot be reached now; null when it can. */
  unreachable: string | null
  placed: string | null
  /** The CA that the certificate there was issued by, as base64 of its DER; null where the public ones are trusted. */
  authority: string | null
  isCertified: boolean
  isForwarded: boolean
  carry: CarryOf<JobState> | null
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
  /** Those of the release that its meter has measured. */
  volumes?: VolumeSeen[]
  containers: ContainerSeen[]
  /** Those of the routed service, in their order. Absent where there is none, or of before they were counted. */
  replicas?: ReplicaSeen[]
  /** Names of containers of replicas that the release has no more, or not yet. */
  strays?: string[]
  /** Whether its proxy has its route; null when that was not looked at. */
  hasRoute: boolean | null
  /** Since when each look found no answer, or a fault. */
  badSince: string | null
}

/** `address`: null where it does not run. */
export type ReplicaSeen = { name: string; address: string | null; isReady: boolean }

/** `bytes`: on disk, as its file system counts them. */
export type VolumeSeen = { name: string; bytes: number }

/** `isStopped`: it was more than the budget, and nothing of the app has run since. */
export type DiskUse = { usedMib: number; budgetMib: number; isStopped: boolean }

/** `since`: lines after this are wanted next. `service`: of one alone; null for all. */
export type LogRequest = {
  id: string
  tail: number
  follow: boolean
  since: string | null
  service: string | null
  fetchedAt: string | null
}

/** What is reserved on the host: for the app, and for all others. */
export type Room = { held: Budget | null; others: Budget }

/** Why what runs was not given a budget: as long as the same is wanted it is not tried again before a while. */
export type BudgetRefusal = { budget: Budget; detail: string }

export type AppWorld = {
  account: { name: string; capabilities: readonly string[] } | null
  /** The one where it lives; null when there is no such host. */
  host: TargetHost | null
  /** Where it lives, and where its spec wants it. */
  home: string
  wanted: string
  places: AppPlace[]
  /** Of the host that the move goes to which waits first, or is under way; null while none does. */
  moving: Moving | null
  /** How the jobs stand that take what is left off hosts that it has left; null of one that cannot be reached now. */
  leaving: Readonly<Record<string, JobState | null>>
  /** Which app holds the name on its host; null when none does. */
  slugHolder: string | null
  room: Room
  budgetRefusal: BudgetRefusal | null
  /** In the order of asking: all that are open, and the last that ended. */
  operations: Operation[]
  /** Newest first: the live one, those of which something may still run, and some of the past. */
  releases: Release[]
  env: { version: number; keys: string[] } | null
  passwordVersion: number | null
  /** Something is kept of it, that goes with it. */
  hasRows: boolean
  /** The route that was set last. `letIn`: for whom what is open was ended last; null before anybody looked. */
  route: { digest: string; address: string; letIn?: LetInNote | null } | null
  /** The job of the running operation's present step; null when it has none. */
  job: JobState | null
  /** Jobs that take superseded and failed releases down, by the release's number. */
  retiring: Readonly<Record<number, JobState>>
  /** Requests in flight per address of the proxy; null when it was not asked in this pass. */
  requests: Readonly<Record<string, number>> | null
  /** Null when it was not looked at in this pass and never before, or the host cannot be reached. */
  look: AppObservation | null
  /** The same of the release before, while it stays to be gone back to. */
  before: AppObservation | null
  /** While something of the live release is not as it should be. */
  episode: Episode | null
  /** When the upload that the spec names was sent last (ISO); null where it never was, or need not be known. */
  uploadedAt: string | null
  /** Why the host cannot be reached now; null when it can, or was not asked. */
  unreachable: string | null
  /** How far the running operation is, as it was said last: seldom, for it is written into the status. */
  progress?: string | null
  logs: LogRequest[]
  naming: AppNaming
  previews: PreviewsWorld
  /** How often a link was ended that may hold a connection open. */
  linksEnded: number
  /** What visitors get under its hostnames, as seen last; null before that. */
  reach: ReachSeen | null
  /** `jobs`: how those stand that it was asked of. While the clock may not be believed nothing falls due. */
  runs: RunsWorld & { jobs: Readonly<Record<string, JobState>>; isClockTrusted?: boolean }
  /** Those that wait or run, that are not yet cleaned away, and the last that have ended. */
  backups: AppBackup[]
  /** How their jobs stand that it was asked of. `back`: of a restore that did not come to its end. */
  backupJobs: Readonly<Record<string, { keep: JobState; back?: JobState }>>
  publicUrl: string
  /** Opens the platform's pages on the app's own host to its proxy. */
  gateToken: string
}
