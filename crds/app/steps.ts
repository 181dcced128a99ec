/** What a pass over an app may do: one effect each, every one keyed, so that it may run twice. */
import type { Plan } from '../kernel/plan.ts'
import type { AppFacts } from './schema.ts'
import type { AppIntent, AppRoute, LogRequest, Operation, OperationState, PinnedImage, Release } from './world.ts'

/** Steps of an operation that run as detached jobs on the host. */
export type JobStep = 'images' | 'start'

export type AppStep =
  | { do: 'takeSlug' }
  /** What the spec asks for and no operation has taken up: it came by kubectl. */
  | { do: 'ask'; id: string; intent: AppIntent }
  | {
      do: 'begin'
      operation: Operation
      source: string
      envVersion: number | null
      restoredFrom: number | null
    }
  /** Judges source and env against the host, and seals what is to run. `pinned`: images of the release it repeats. */
  | { do: 'check'; operation: Operation; release: Release; pinned: PinnedImage[] | null }
  | { do: 'upload'; operation: Operation; release: Release }
  | { do: 'startJob'; operation: Operation; release: Release; step: JobStep }
  /** Takes the ids of images that the job found, and seals the release with them. */
  | { do: 'takeImages'; operation: Operation; release: Release; log: string }
  | { do: 'takeAddress'; operation: Operation; address: string }
  | { do: 'claimSwitch'; operation: Operation }
  /** `isFirst`: nobody could reach the name before, so its certificate is waited for. */
  | {
      do: 'setRoute'
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
  | { do: 'goLive'; operation: Operation; release: Release }
  /** Ends a job of a cancelled operation, whether it has begun or not. */
  | { do: 'cancelJob'; operation: Operation; job: string }
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
  | { do: 'retire'; release: Release }
  | { do: 'fetchLogs'; request: LogRequest }
  /** The app is deleted: its route, then all that runs of it and its folder, then its rows. */
  | { do: 'removeRoute' }
  | { do: 'clear' }
  | { do: 'forget' }

/** At most 63 characters of a-z, 0-9 and -: an operation's id and a step. */
export const jobIdOf = (operation: Pick<Operation, 'id'>, step: JobStep): string => `${operation.id}-${step}`

/** @param app the resource's uid: a name may come again */
export const downJobOf = (uid: string, release: number | 'all'): string => `down-${uid}-${release}`

export type AppPlan = Plan<AppStep, AppFacts>
