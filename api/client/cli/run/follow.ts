/**
 * FollowedStream what was begun until it has ended. It goes on by itself: whoever stops to follow loses nothing, and comes back by
 * `operation ID --follow`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandContext } from '../context.ts'
import type { AnswerBody, ApiAnswer } from '../net/api.ts'
import { EXIT, type ExitCode, exitCodeFor, GaveUp, RefusedByApi } from '../net/outcome.ts'
import { oneLine, type Terminal } from '../show/terminal.ts'
import { secondsWords } from '../show/words.ts'
import { followLog } from './stream.ts'

const POLL_MS = 700
const POLL_MAX_MS = 3_000

/** One step of an operation, as the API tells it. */
type ShownStep = {
  name: string
  state: string
  started_at: string | null
  ended_at: string | null
  message: string | null
}

const MARKS: Readonly<Record<string, string>> = {
  succeeded: '✓',
  failed: '✗',
  skipped: '·',
  running: '…',
  pending: ' ',
}

const tookOf = ({ started_at: from, ended_at: to }: ShownStep): string =>
  from && to ? ` (${secondsWords(Date.parse(to) - Date.parse(from))})` : ''

const messageOf = ({ message }: ShownStep): string => (message ? `: ${oneLine(message, 300)}` : '')

/** Says what changed since it was looked at last. */
const tellSteps = (terminal: Terminal, steps: readonly ShownStep[], told: Map<string, string>): void => {
  for (const step of steps) {
    const words = `${step.state}${step.message ?? ''}`
    if (step.state === 'pending' || told.get(step.name) === words) continue
    const isEnd = step.state !== 'running'
    const line = `${MARKS[step.state] ?? ' '} ${oneLine(step.name, 60)}${isEnd ? tookOf(step) : ''}${messageOf(step)}`
    if (isEnd) terminal.say(line)
    else terminal.passing(line)
    told.set(step.name, words)
  }
}

export const isEnded = (operation: AnswerBody): boolean =>
  operation.ended_at !== undefined ? operation.ended_at !== null : operation.state !== 'pending'

const polled = async (
  context: CommandContext,
  path: string,
  onLook: (operation: AnswerBody) => void,
): Promise<AnswerBody> => {
  const { api, surroundings } = context
  for (let ms = POLL_MS; ; ms = Math.min(ms * 1.3, POLL_MAX_MS)) {
    const { body } = await api.call({ method: 'GET', path })
    const operation = body?.operation ?? {}
    onLook(operation)
    if (isEnded(operation)) return operation
    if (api.leftMs() < ms) throw new GaveUp('The time to wait is up; it goes on by itself.', EXIT.timedOut)
    await sleep(ms, undefined, { signal: surroundings.signal })
  }
}

/**
 * @param path of the operation
 * @returns the operation as it ended
 * @throws GaveUp when the time of the command is up
 */
export const followOperation = async (context: CommandContext, path: string): Promise<AnswerBody> => {
  const { terminal } = context
  const id = path.slice(path.lastIndexOf('/') + 1)
  context.goesOn(`operation ${id} --follow`)
  const told = new Map<string, string>()
  let log: { end(): Promise<void> } | undefined
  try {
    return await polled(context, path, (operation) => {
      if (Array.isArray(operation.steps)) tellSteps(terminal, operation.steps, told)
      if (typeof operation.app === 'string' && operation.state === 'running') {
        const lines = `/api/apps/${encodeURIComponent(operation.app)}/operations/${encodeURIComponent(id)}/logs`
        log ??= followLog(context, lines, (line) => terminal.say(terminal.paint('dim', `  │ ${oneLine(line, 500)}`)))
      }
    })
  } finally {
    await log?.end()
  }
}

/** How a command ends whose operation ended so. */
export const exitCodeOf = (operation: AnswerBody): ExitCode => {
  if (operation.state === 'succeeded') return EXIT.ok
  return exitCodeFor(operation.result?.code ?? operation.problem?.code, operation.problem?.status)
}

/** What an answer came to: itself, or what its operation ended with. `operation` of an app's operation. */
export type SettledAnswer = { body: AnswerBody; operation: AnswerBody | null; exitCode: ExitCode; isPending: boolean }

/** @throws RefusedByApi as what was asked was refused in the end */
export const settled = async (
  context: CommandContext,
  { status, headers, body }: ApiAnswer,
): Promise<SettledAnswer> => {
  const { location } = headers
  const operation = body?.operation ?? null
  if (status !== 202 || location === undefined) {
    const exitCode = operation && isEnded(operation) ? exitCodeOf(operation) : EXIT.ok
    return { body, operation, exitCode, isPending: false }
  }
  if (context.flags.no_wait === true) return { body, operation, exitCode: EXIT.ok, isPending: true }
  const ended = await followOperation(context, location)
  if (ended.problem) throw new RefusedByApi(ended.problem)
  // Of an app it is what happens to it; of anything else it holds the answer that was waited for.
  if (Array.isArray(ended.steps)) {
    return { body: { ...body, operation: ended }, operation: ended, exitCode: exitCodeOf(ended), isPending: false }
  }
  return {
    body: ended.result ?? {},
    operation: ended.result?.operation ?? null,
    exitCode: exitCodeOf(ended),
    isPending: false,
  }
}
