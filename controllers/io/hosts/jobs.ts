/**
 * Detached jobs: a folder per id under `~/.bottega/jobs`, with the job's input, its log, who runs it, and how it ended.
 * A job goes on when the connection is cut or we restart; in doubt its folder is read, and nothing is started again
 * (rules/host.md#jobs).
 *
 * `runner` holds pid, start time and boot id, so that a pid which the kernel handed out again is not mistaken for it.
 * `claimed` is written before the start: a job that was claimed and neither runs nor has ended was lost, and stays lost.
 */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { RemoteBody, RemoteScript } from './remote.ts'
import { textOf } from './scripts.ts'

export const LOG_KEPT_BYTES = 64 * 1024
/** How often is looked whether something has come: a process each time. */
const LOOK_SECONDS = 0.04
/** The exit code of a job that was killed: by its limit, by `cancelJob`, or by a reboot of the host. */
export const KILLED = 137
const ID = /^[a-z0-9][a-z0-9-]{0,62}$/

/** `log` holds the last 64 KiB of stdout and stderr together. A job that was killed has code 137. */
export type HostJobState =
  | { state: 'absent' }
  | { state: 'running' }
  | { state: 'exited'; code: number; log: string; cancelled: boolean }

/**
 * A detached job: it goes on when we are cut off or restart. The same id never runs twice on a host, whatever was lost
 * on the way; ids are `[a-z0-9-]`, at most 63 long, and name one step of one operation. Lines and body are its stdin.
 * The script begins in the job's own folder (home is `$HOME`), which `dropJob` removes; what it leaves running in its
 * process group ends with it.
 */
export type Job = {
  id: string
  script: RemoteScript
  lines?: readonly string[]
  body?: RemoteBody
  /** The host itself ends the job then. */
  limitMs: number
}

const COMMON = textOf('job-common')
const RUNNER = textOf('job-runner')
const START = `${COMMON}${textOf('job-start')}`
const STATE: RemoteScript = { name: 'job state', text: `${COMMON}${textOf('job-state')}` }
const CANCEL: RemoteScript = { name: 'job cancel', text: `${COMMON}${textOf('job-cancel')}` }
const DROP: RemoteScript = { name: 'job drop', text: `${COMMON}${textOf('job-drop')}` }

const stateOf = (text: string): HostJobState => {
  const line = text.slice(0, text.indexOf('\n'))
  const [word, code, how] = line.split(' ')
  if (word === 'absent') return { state: 'absent' }
  if (word === 'running') return { state: 'running' }
  assert(word === 'exited' && /^\d{1,3}$/.test(code ?? ''), `a job is absent, running or exited, not ${word}`)
  return { state: 'exited', code: Number(code), log: text.slice(line.length + 1), cancelled: how === 'cancelled' }
}

export type JobRun = {
  script: RemoteScript
  lines: readonly string[]
  body?: RemoteBody
  lane: 'work' | 'status'
  /** Changes of a job carry the leader's epoch. */
  fenced: boolean
  deadlineMs: number
}

const LOOK_LIMIT_MS = 10_000
const CANCEL_LIMIT_MS = 30_000
/** Of 100 MB over a slow line. */
const START_LIMIT_MS = 600_000

const bytesOf = (body: RemoteBody | undefined): number =>
  body === undefined ? 0 : Buffer.isBuffer(body) ? body.length : body.bytes

/** Lines before a body, as one input. */
const inputOf = ({ lines = [], body }: Job): RemoteBody => {
  const head = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  if (body === undefined) return head
  if (Buffer.isBuffer(body)) return Buffer.concat([head, body])
  const { stream, bytes } = body
  async function* joined() {
    yield head
    yield* stream
  }
  return { stream: Readable.from(joined(), { objectMode: false }), bytes: head.length + bytes }
}

/** How long the host waits for the job's end before it answers how the job stands. */
export type JobWait = { waitMs?: number }

const NO_LOOK = '0'
const looksIn = (waitMs: number): string => String(Math.round(waitMs / 1000 / LOOK_SECONDS))

/** @param run runs a script that must end well: another exit code than 0 is an error */
export const makeJobs = (run: (input: JobRun) => Promise<string>) => {
  const named = (id: string): string => {
    assert(ID.test(id), `${id} is no id of a job`)
    return id
  }
  return {
    startJob: async (job: Job, { waitMs = 0 }: JobWait = {}): Promise<HostJobState> => {
      for (const line of job.lines ?? []) assert(!/[\n\0]/.test(line), 'a line holds neither a line feed nor NUL')
      const body = inputOf(job)
      const limitSeconds = Math.ceil(job.limitMs / 1000)
      const lines = [named(job.id), looksIn(waitMs), String(limitSeconds), String(bytesOf(body))]
      const script = { name: `start ${job.script.name}`, text: START, args: [RUNNER, job.script.text] }
      return stateOf(await run({ script, lines, body, lane: 'work', fenced: true, deadlineMs: START_LIMIT_MS }))
    },
    jobState: async (id: string, { waitMs = 0 }: JobWait = {}): Promise<HostJobState> => {
      const lines = [named(id), looksIn(waitMs)]
      // Who waits must not stand in the way of who looks or cancels.
      const lane = waitMs > 0 ? 'work' : 'status'
      return stateOf(await run({ script: STATE, lines, lane, fenced: false, deadlineMs: LOOK_LIMIT_MS + waitMs }))
    },
    cancelJob: async (id: string): Promise<HostJobState> => {
      const lines = [named(id), NO_LOOK]
      return stateOf(await run({ script: CANCEL, lines, lane: 'status', fenced: true, deadlineMs: CANCEL_LIMIT_MS }))
    },
    dropJob: async (id: string, ...more: readonly string[]): Promise<void> => {
      const lines = [named(id), NO_LOOK, ...more.map(named)]
      await run({ script: DROP, lines, lane: 'status', fenced: true, deadlineMs: LOOK_LIMIT_MS })
    },
  }
}
