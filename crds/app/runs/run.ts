/**
 * A run: one command in a container of its own, with what a service of a release has. Somebody asked for it, a release has
 * it before or after, or it fell due (rules/app.md#commands). Instants are ISO.
 */
import { createHash } from 'node:crypto'
import type { ReleaseCommand } from './schema.ts'

export const RUN_CAUSES = ['asked', 'schedule', 'pre_release', 'post_release'] as const
export type RunCause = (typeof RUN_CAUSES)[number]

/** `unknown`: it was begun, and nobody knows how it ended. `skipped`: it was never begun, by the rules of its schedule. */
export const RUN_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'unknown', 'skipped'] as const
export type RunState = (typeof RUN_STATES)[number]
export type RunEnd = Exclude<RunState, 'queued' | 'running'>

export type NewRun = {
  id: string
  app: string
  account: string
  cause: RunCause
  service: string
  command: readonly string[]
  timeoutSeconds: number
  repeatable: boolean
  /** Names of the env that was given with it; values are sealed beside it. */
  envKeys: readonly string[]
  /** Whose release it belongs to; null for all others. */
  operation: string | null
  /** Counts where it is run again, from 1. */
  attempt: number
  schedule: string | null
  /** The instant that it fell due. */
  dueAt: string | null
  /** Of a release's command the release; of others it is known once it begins. */
  release: number | null
  /** Of one that is never begun, why. */
  skipped: { code: string; message: string } | null
}

export type AppRun = Omit<NewRun, 'skipped' | 'command'> & {
  command: string[]
  state: RunState
  exitCode: number | null
  code: string | null
  message: string | null
  /** Bytes of its output on the host that were taken in. */
  taken: number
  /** Bytes of its output that nobody has taken in before they made room for later ones. */
  lost: number
  /** Of its output as it is kept, in bytes: where it begins, and where it ends. */
  outputFirst: number
  outputNext: number
  /** Its last lines so far. */
  tail: string | null
  createdAt: string
  startedAt: string | null
  endedAt: string | null
  cancelAt: string | null
  /** When its output was looked at last. */
  fetchedAt: string | null
  /** Nothing of it is on the host any more. */
  droppedAt: string | null
}

/** What a pass knows of an app's runs. */
export type RunsWorld = {
  /** Those that wait or run, that are not yet cleaned away, and all of the open operation and of the live release's. */
  runs: AppRun[]
  /** Since when each schedule is as it is, and the instant that was dealt with last. */
  marks: ScheduleMark[]
  /** When the schedule wakes the app next, as it stands in the database. */
  wakesAt: string | null
}

/** `digest`: of when it comes, so that a change of that begins anew. */
export type ScheduleMark = { name: string; digest: string; since: string; lastAt: string | null }

export const NO_RUNS: RunsWorld = { runs: [], marks: [], wakesAt: null }

/** Asked for and fallen due, at once in an app; commands of releases come on top. */
export const RUNS_AT_ONCE = 3
/** That wait or run because somebody asked. */
export const RUNS_OPEN_MAX = 10
/** Ended ones that are remembered: of those asked for, and of each schedule. */
export const RUNS_KEPT = 20
/** Bytes of output that are kept of one: the last. */
export const OUTPUT_KEPT_BYTES = 256 * 1024
/** A run that says nothing new is looked at so often. */
export const RUN_LOOK_MS = 1_000
/** A command that may run twice is run so often at most. */
export const ATTEMPTS_MAX = 3

export const isRunOpen = ({ state }: Pick<AppRun, 'state'>): boolean => state === 'queued' || state === 'running'

const hex = (parts: readonly unknown[], digits: number): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits)

/** Of the run for one instant: whoever asks for it again finds it. @param origin of the app (`originOf`) */
export const dueRunId = (origin: string, schedule: string, dueAt: string): string =>
  `op-${hex([origin, schedule, dueAt], 32)}`

export const releaseRunId = (operation: string, cause: 'pre_release' | 'post_release', attempt: number): string =>
  `${operation}-${cause === 'pre_release' ? 'pre' : 'post'}-${attempt}`

/** At most 63 characters of a-z, 0-9 and -. */
export const runJobOf = ({ id }: Pick<AppRun, 'id'>): string => `${id}-run`

/** What its container and its compose project are called: no other app's project ends so (crds/app/faults.ts). */
export const runNameOf = (slug: string, { id }: Pick<AppRun, 'id'>): string => `${slug}-run-${hex([id], 12)}`

/** As an operation asks for the command of its release. */
export const releaseRun = (
  of: { operation: { id: string; app: string; account: string }; release: number; attempt: number },
  cause: 'pre_release' | 'post_release',
  { service, command, timeoutSeconds, repeatable }: ReleaseCommand,
): NewRun => ({
  id: releaseRunId(of.operation.id, cause, of.attempt),
  app: of.operation.app,
  account: of.operation.account,
  cause,
  service,
  command,
  timeoutSeconds,
  repeatable,
  envKeys: [],
  operation: of.operation.id,
  attempt: of.attempt,
  schedule: null,
  dueAt: null,
  release: of.release,
  skipped: null,
})
