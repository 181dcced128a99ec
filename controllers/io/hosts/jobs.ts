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
/** Of the log of a job that runs, in one answer; and of one that has ended and was not read to its end. */
const CHUNK_BYTES = 256 * 1024
export const LOG_GIVEN_BYTES = 512 * 1024
/** How often is looked whether something has come: a process each time. */
const LOOK_SECONDS = 0.04
/** The exit code of a job that was killed: by its limit, by `cancelJob`, or by a reboot of the host. */
export const KILLED = 137
const ID = /^[a-z0-9][a-z0-9-]{0,62}$/

/**
 * A piece of a job's log, in whole lines unless it has ended: the bytes from `from` to `to`. `from` is beyond what was asked for where
 * more had come than one answer takes.
 */
export type HostJobOutput = { from: number; to: number; text: string }

/**
 * `log` holds the last 64 KiB of stdout and stderr together. A job that was killed has code 137. `output` is there where the log was
 * asked for from some byte on, and there is more.
 */
export type HostJobState =
  | { state: 'absent' }
  | { state: 'running'; output?: HostJobOutput }
  | { state: 'exited'; code: number; log: string; cancelled: boolean; output?: HostJobOutput }

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

const LINE_FEED = 10

const outputOf = (bytes: Buffer, from: number): { output?: HostJobOutput } =>
  bytes.length === 0 ? {} : { output: { from, to: from + bytes.length, text: bytes.toString('utf8') } }

/** Whole lines, so that nothing is cut in two; a line that is longer than an answer is taken as it is. */
const wholeLines = (bytes: Buffer): Buffer =>
  bytes.length >= CHUNK_BYTES && !bytes.includes(LINE_FEED)
    ? bytes
    : bytes.subarray(0, bytes.lastIndexOf(LINE_FEED) + 1)

/** @param after from which byte on the log was asked for; undefined where it was not */
const stateOf = (answer: Buffer, after: number | undefined): HostJobState => {
  const head = answer.indexOf(LINE_FEED)
  const body = answer.subarray(head + 1)
  const [word, code, how, at] = answer.toString('latin1', 0, head).split(' ')
  if (word === 'absent') return { state: 'absent' }
  if (word === 'running') return { state: 'running', ...(after !== undefined && outputOf(wholeLines(body), after)) }
  assert(word === 'exited' && /^\d{1,3}$/.test(code ?? ''), `a job is absent, running or exited, not ${word}`)
  const from = Number(at)
  const log = body.subarray(Math.max(0, body.length - LOG_KEPT_BYTES)).toString('utf8')
  const fresh = after === undefined ? {} : outputOf(body.subarray(Math.max(0, after - from)), Math.max(after, from))
  return { state: 'exited', code: Number(code), log, cancelled: how === 'cancelled', ...fresh }
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

/**
 * How long the host waits for the job's end before it answers how the job stands. `after`: the log is wanted too, from that byte on.
 */
export type JobWait = { waitMs?: number; after?: number | undefined }

const NO_LOOK = '0'
const NO_LOG = ''
const looksIn = (waitMs: number): string => String(Math.round(waitMs / 1000 / LOOK_SECONDS))

/** @param run runs a script that must end well: another exit code than 0 is an error */
export const makeJobs = (run: (input: JobRun) => Promise<Buffer>) => {
  const named = (id: string): string => {
    assert(ID.test(id), `${id} is no id of a job`)
    return id
  }
  return {
    startJob: async (job: Job, { waitMs = 0, after }: JobWait = {}): Promise<HostJobState> => {
      for (const line of job.lines ?? []) assert(!/[\n\0]/.test(line), 'a line holds neither a line feed nor NUL')
      const body = inputOf(job)
      const limitSeconds = Math.ceil(job.limitMs / 1000)
      const wanted = [looksIn(waitMs), after === undefined ? NO_LOG : String(after)]
      const lines = [named(job.id), ...wanted, String(limitSeconds), String(bytesOf(body))]
      const script = { name: `start ${job.script.name}`, text: START, args: [RUNNER, job.script.text] }
      return stateOf(await run({ script, lines, body, lane: 'work', fenced: true, deadlineMs: START_LIMIT_MS }), after)
    },
    jobState: async (id: string, { waitMs = 0, after }: JobWait = {}): Promise<HostJobState> => {
      const lines = [named(id), looksIn(waitMs), after === undefined ? NO_LOG : String(after)]
      // Who waits must not stand in the way of who looks or cancels.
      const lane = waitMs > 0 ? 'work' : 'status'
      return stateOf(
        await run({ script: STATE, lines, lane, fenced: false, deadlineMs: LOOK_LIMIT_MS + waitMs }),
        after,
      )
    },
    cancelJob: async (id: string): Promise<HostJobState> => {
      const lines = [named(id), NO_LOOK, NO_LOG]
      const ended = await run({ script: CANCEL, lines, lane: 'status', fenced: true, deadlineMs: CANCEL_LIMIT_MS })
      return stateOf(ended, undefined)
    },
    dropJob: async (id: string, ...more: readonly string[]): Promise<void> => {
      const lines = [named(id), NO_LOOK, NO_LOG, ...more.map(named)]
      await run({ script: DROP, lines, lane: 'status', fenced: true, deadlineMs: LOOK_LIMIT_MS })
    },
  }
}
