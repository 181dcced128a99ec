/** How a run ended, by what its job said. */
import type { ProblemCode } from '../../kernel/problem.ts'
import { EXIT, markedLines } from '../start.ts'
import type { JobState } from '../world.ts'
import type { AppRun, RunEnd } from './run.ts'

export type RunEnding = { state: RunEnd; exitCode: number | null; code: ProblemCode | null; message: string }

/** Of a command in a sentence. */
const SHOWN = 80

export const sayCommand = ({ command, service }: Pick<AppRun, 'command' | 'service'>): string => {
  const words = command.join(' ').replaceAll(/\s+/g, ' ')
  return `"${words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words}" in ${service}`
}

const lastLine = (output: string): string => output.trimEnd().split('\n').at(-1)?.trim() ?? ''

const SIGNAL = 128

const sayExit = (code: number, isOutOfMemory: boolean): string => {
  if (isOutOfMemory) return 'ran out of memory'
  return code > SIGNAL ? `was ended by signal ${code - SIGNAL}` : `ended with exit code ${code}`
}

const about = (log: string): string => {
  const found = markedLines(log).find(([word]) => word === 'reason')
  return found ? `: ${found.slice(1).join(' ')}` : ''
}

/** @param output its last lines as they are shown, of which the very last is told with a failure */
export const runEnding = (run: AppRun, job: Extract<JobState, { state: 'exited' }>, output: string): RunEnding => {
  const said = sayCommand(run)
  const failed = (code: ProblemCode, what: string): RunEnding => ({
    state: 'failed',
    exitCode: null,
    code,
    message: `${said} ${what}`,
  })
  if (run.cancelAt !== null || job.cancelled) {
    return { state: 'cancelled', exitCode: null, code: null, message: `${said} was stopped because somebody asked` }
  }
  switch (job.code) {
    case 0: {
      const [, code = '', oom] = markedLines(job.log).find(([word]) => word === 'code') ?? []
      const exitCode = /^\d{1,3}$/.test(code) ? Number(code) : null
      if (exitCode === null) break
      if (exitCode === 0) return { state: 'succeeded', exitCode, code: null, message: `${said} ended well` }
      const line = lastLine(output)
      const detail = `${sayExit(exitCode, oom === 'true')}${line === '' ? '' : `: ${line}`}`
      return { ...failed('COMMAND_FAILED', detail), exitCode }
    }
    case EXIT.commandLate:
      return failed('COMMAND_TIMEOUT', `took longer than ${run.timeoutSeconds} s and was stopped`)
    case EXIT.commandUnstarted:
      return failed('COMMAND_FAILED', `could not be started${about(job.log)}`)
    case EXIT.baseFailed:
      return failed('RELEASE_FAILED', `was not begun, for a service that it builds on did not come up${about(job.log)}`)
    case EXIT.notGuarded:
      return failed('HOST_NOT_ISOLATED', `was not begun, for the host does not keep its apps apart${about(job.log)}`)
    case EXIT.diskExceeded:
      return failed('DISK_EXCEEDED', `was not begun, for the app has too much on disk${about(job.log)}`)
    default:
  }
  const message = `nobody knows how ${said} ended: its host or its container engine was restarted meanwhile`
  return { state: 'unknown', exitCode: null, code: 'COMMAND_UNKNOWN', message }
}
