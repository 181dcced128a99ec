/** What a pass over an app may do: one effect each, every one keyed, so that it may run twice. */
import type { Plan } from '../kernel/plan.ts'
import type { Budget } from './compose/project.ts'
import type { Episode, Finding, Mend } from './lifecycle/health/seen.ts'
import type { BackupStep } from './lifecycle/keeping/backups/steps.ts'
import type { MoveEnding, PackedVolume } from './lifecycle/keeping/moving/held.ts'
import type { LetInNote, Opener } from './lifecycle/publishing/letin.ts'
import type { PreviewEnd } from './lifecycle/publishing/previewed.ts'
import type { ReleaseCommands } from './runs/schema.ts'
import type { RunStep } from './runs/steps.ts'
import type { AppFacts } from './schema.ts'
import type {
  AppIntent,
  JobOutput,
  LeavingReplica,
  LogRequest,
  Operation,
  OperationState,
  PinnedImage,
  Release,
} from './world.ts'

/** Steps of an operation that run as detached jobs on the host. */
export type JobStep = 'images' | 'start'

export type AppRoute = { id: string; owner: string; hostnames: string[]; handle: unknown[] }

export type AppStep =
  | { do: 'takeSlug' }
  /** A preview is on record, with its end, among those of its app. */
  | { do: 'takePreview' }
  /** The preview of that name goes: this app itself, or one of it. */
  | { do: 'deletePreview'; app: string }
  /** Nothing of this preview is left. */
  | { do: 'endPreview'; reason: PreviewEnd }
  /** Domains that the spec names become the account's to prove; those it names no longer go back. */
  | { do: 'claimNames'; names: string[] }
  | { do: 'releaseNames'; keep: string[] }
  /** @see rooms.ts of the store: who comes second does not get the last of it */
  | { do: 'takeRoom'; budget: Budget; limits: Budget | null }
  /** Limits of what runs of the live release, and of its disk, as its budget is now. */
  | { do: 'applyBudget'; release: Release; budget: Budget }
  /** What the spec asks for and no operation has taken up: it came by kubectl. */
  | { do: 'ask'; id: string; intent: AppIntent }
  | {
      do: 'begin'
      operation: Operation
      source: string
      envVersion: number | null
      restoredFrom: number | null
      /** What is run before and after it. */
      commands?: ReleaseCommands | null
      /** What the app keeps goes with it. */
      carries?: boolean
    }
  | RunStep
  | BackupStep
  /** What is run before the release has ended well. */
  | { do: 'passPreRelease'; operation: Operation; message: string | null }
  /** Judges source and env against the host, and seals what is to run. `pinned`: images of the release it repeats. */
  | { do: 'check'; operation: Operation; release: Release; pinned: PinnedImage[] | null }
  | { do: 'upload'; operation: Operation; release: Release }
  | { do: 'startJob'; operation: Operation; release: Release; step: JobStep }
  /** Keeps what has come of a job's log, and says how far it is. */
  | { do: 'keepLog'; operation: Operation; release: Release; step: JobStep; output: JobOutput }
  /** Takes the ids of images that the job found, and seals the release with them. */
  | { do: 'takeImages'; operation: Operation; release: Release; log: string }
  /** `note`: what the start had to say, as of its trial. */
  | { do: 'takeAddress'; operation: Operation; address: string; note: string | null }
  | { do: 'claimSwitch'; operation: Operation }
  /** `isFirst`: nobody could reach the name before, so its certificate is waited for. */
  | {
      do: 'setRoute'
      /** The move that it is part of. */
      operation?: Operation
      route: AppRoute
      /** The number of the release that it leads to. */
      release: number
      /** Where the address is written for the proxy; null when it stands in the route. */
      dialFile: string | null
      digest: string
      address: string
      isFirst: boolean
      /** The route itself stands already; its proxy only has to dial elsewhere. */
      isSet: boolean
    }
  /** Ends what is open at the app and was opened by `whose`, and keeps for whom. `places`: where that may be. `left`: hosts it has left, where it is ended too. */
  | { do: 'endOpen'; whose: Opener[]; note: LetInNote; places: string[]; left: string[] }
  | { do: 'goLive'; operation: Operation; release: Release }
  /** Name and room on the host that it moves to. */
  | { do: 'takePlace'; operation: Operation; host: string; budget: Budget; limits: Budget | null }
  /** There the route is set before anybody is sent to it, and its certificate is waited for a while. */
  | { do: 'placeRoute'; operation: Operation; route: AppRoute; dialFile: string | null; address: string }
  /** The host that it leaves stops all of it and packs what it keeps, and starts it again by itself when it hears no more. */
  | { do: 'holdVolumes'; operation: Operation; live: Release; bytes: number }
  /** Brings what was packed to the other host, piece by piece. */
  | { do: 'carryVolumes'; operation: Operation; packs: PackedVolume[] }
  /** Puts it into volumes there. */
  | { do: 'placeVolumes'; operation: Operation; packs: PackedVolume[] }
  | { do: 'passVolumes'; operation: Operation; message: string }
  /** What runs there ends, and what was stopped runs again. */
  | { do: 'undoMove'; operation: Operation; ending: MoveEnding }
  /** The host that it leaves never starts it again; what runs on the other one stays. */
  | { do: 'leaveHold'; operation: Operation }
  | { do: 'keepThere'; operation: Operation }
  /** The proxy of the host that it leaves sends visitors on. */
  | { do: 'forward'; operation: Operation }
  /** What is left of it goes from a host that it has left, or did not come to. */
  | { do: 'leavePlace'; host: string }
  | { do: 'beginScale'; operation: Operation }
  /** Notes where visitors are to be led, and which replicas will leave. */
  | { do: 'grown'; operation: Operation; address: string; leaving: LeavingReplica[]; message: string }
  | { do: 'scaled'; operation: Operation; release: Release; replicas: number }
  /** Takes containers of replicas away that nobody is on, or that a scale has left. */
  | { do: 'dropReplicas'; release: Release; names: string[] }
  /** Starts what takes visitors of a release anew, so that what is open on it ends. */
  | { do: 'cutStreams'; release: Release }
  /** Ends a job of a cancelled operation, whether it has begun or not. `isHome`: of a move, on the host where the app lives. */
  | { do: 'cancelJob'; operation: Operation; job: string; isHome?: true }
  | {
      do: 'end'
      operation: Operation
      state: Exclude<OperationState, 'queued' | 'running'>
      code: string | null
      message: string
      log: string | null
    }
  /** Takes a superseded or failed release down, by a detached job. `restoresBase`: the base goes back to what is live. */
  | { do: 'takeDown'; release: Release; restoresBase: boolean }
  /** `log`: what it said last, where it was live; null where nothing of it is to be kept. */
  | { do: 'retire'; release: Release; log: string | null }
  /** Notes the first and worst of so many findings, with what its container said last, `instead` of something milder. */
  | { do: 'noteUnhealthy'; release: Release; finding: Finding; findings: number; instead: Episode | null }
  | { do: 'mend'; release: Release; episode: Episode; mends: Mend[] }
  | { do: 'noteRecovered'; episode: Episode }
  /** Visitors go back from a release that turned out to be bad. */
  | { do: 'returnTo'; from: Release; to: Release; findings: Finding[] }
  /** For all who read at this moment: the host is asked once. */
  | { do: 'fetchLogs'; requests: LogRequest[] }
  /** The app is deleted: its route, then all that runs of it and its folder, then its rows. */
  | { do: 'removeRoute' }
  | { do: 'clear' }
  | { do: 'forget' }

/** At most 63 characters of a-z, 0-9 and -: an operation's id and a step. */
export const jobIdOf = (operation: Pick<Operation, 'id'>, step: JobStep): string => `${operation.id}-${step}`

/** @param app the resource's uid: a name may come again */
export const downJobOf = (uid: string, release: number | 'all'): string => `down-${uid}-${release}`

export type AppPlan = Plan<AppStep, AppFacts>
