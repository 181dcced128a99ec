/** What a pass does about runs: one effect each, keyed by the run. */
import type { JobState } from '../world.ts'
import type { AppRun, NewRun, RunEnd, ScheduleMark } from './run.ts'

export type RunStep =
  /** Enters what a release needs, or what fell due. */
  | { do: 'askRun'; run: NewRun }
  /** Its turn has come: from here on it may have run. */
  | { do: 'beginRun'; run: AppRun; release: number }
  | { do: 'startRun'; run: AppRun }
  /** Takes its output in; once the job has ended, to the end, and notes how. */
  | { do: 'followRun'; run: AppRun; job: Extract<JobState, { state: 'running' | 'exited' }> }
  /** One that never began. */
  | { do: 'endRun'; run: AppRun; state: Exclude<RunEnd, 'skipped'>; code: string | null; message: string }
  | { do: 'cancelRun'; run: AppRun }
  /** Takes its container and its job off the host. */
  | { do: 'dropRun'; run: AppRun }
  /** Which schedules there are, since when. */
  | { do: 'markSchedules'; marks: ScheduleMark[] }
  /** When the next of them is due; null for never. */
  | { do: 'wakeAt'; dueAt: string | null }
