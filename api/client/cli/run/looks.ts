/** Looks at an app: how it stands, whether it answers, its log, and what became of an operation. */
import type { CommandContext } from '../context.ts'
import type { AnswerBody } from '../net/api.ts'
import { EXIT, type ExitCode, RefusedByApi, UsageFault } from '../net/outcome.ts'
import { appLines, checkLines } from '../show/app.ts'
import { memberLines } from '../show/show.ts'
import { visible } from '../show/terminal.ts'
import { showEnded } from './ended.ts'
import { exitCodeOf, followOperation, isEnded } from './follow.ts'
import { queryOf } from './generic.ts'
import { followEvents } from './stream.ts'

const at = (id: string, more = ''): string => `/api/apps/${encodeURIComponent(id)}${more}`

/** @throws UsageFault where more was typed than is taken */
export const refuseWords = ({ words, command }: Pick<CommandContext, 'words' | 'command'>, most = 0): void => {
  const over = words[most]
  if (over !== undefined) throw new UsageFault(`${command.name} takes no ${JSON.stringify(over.slice(0, 60))}.`)
}

export const runStatus = async (context: CommandContext): Promise<ExitCode> => {
  refuseWords(context)
  const { body } = await context.api.call({ method: 'GET', path: at(await context.subject()) })
  if (context.terminal.isJson) context.terminal.json(body)
  else for (const line of appLines(body?.app ?? {})) context.terminal.out(line)
  return EXIT.ok
}

/** Ends with 1 when the app does not answer, so that a script may ask. */
export const runReadiness = async (context: CommandContext): Promise<ExitCode> => {
  refuseWords(context)
  const { body } = await context.api.call({ method: 'GET', path: at(await context.subject(), '/readiness') })
  const readiness = body?.readiness ?? {}
  if (context.terminal.isJson) context.terminal.json(body)
  else for (const line of checkLines(readiness)) context.terminal.out(line)
  return readiness.state === 'not_ready' ? EXIT.failed : EXIT.ok
}

const oneLog = async (context: CommandContext, path: string): Promise<ExitCode> => {
  const { api, terminal } = context
  const { text } = await api.call({ method: 'GET', path, headers: { accept: 'text/plain' } })
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  if (terminal.isJson) terminal.json({ lines })
  else for (const line of lines) terminal.out(visible(line))
  return EXIT.ok
}

export const runLogs = async (context: CommandContext): Promise<ExitCode> => {
  refuseWords(context)
  const { terminal, flags } = context
  const path = at(await context.subject(), '/logs')
  if (flags.follow !== true) return oneLog(context, `${path}${queryOf(context)}`)
  context.goesOn(`logs ${await context.subject()} --follow`)
  await followEvents(context, {
    path: `${path}${queryOf(context)}`,
    againPath: `${path}${queryOf(context, { tail: '1' })}`,
    isStopped: () => false,
    onEvent({ data, id }) {
      if (terminal.isJson) terminal.json({ line: data, ...(id !== null && { id }) }, { line: true })
      else terminal.out(visible(data))
    },
  })
  return EXIT.ok
}

/** That of an app, or else the verdict of any other request. @throws RefusedByApi NOT_FOUND */
const findOperation = async ({ api }: CommandContext, id: string): Promise<{ path: string; body: AnswerBody }> => {
  const own = `/api/apps/operations/${encodeURIComponent(id)}`
  const any = `/api/operations/${encodeURIComponent(id)}`
  try {
    return { path: own, body: (await api.call({ method: 'GET', path: own })).body }
  } catch (error) {
    if (!(error instanceof RefusedByApi) || error.refusal.status !== 404) throw error
    return { path: any, body: (await api.call({ method: 'GET', path: any })).body }
  }
}

/** How it ended: of an app with its release, of anything else with its verdict. */
const showEnd = async (context: CommandContext, operation: AnswerBody): Promise<ExitCode> => {
  const exitCode = exitCodeOf(operation)
  if (typeof operation.app === 'string') {
    return showEnded(context, {
      id: operation.app,
      end: { body: { operation }, operation, exitCode, isPending: false },
    })
  }
  showMembers(context, { operation })
  return exitCode
}

const showMembers = ({ terminal }: CommandContext, body: AnswerBody): void => {
  if (terminal.isJson) terminal.json(body)
  else for (const line of memberLines(body?.operation ?? {})) terminal.out(line)
}

export const runOperation = async (context: CommandContext): Promise<ExitCode> => {
  refuseWords(context, 1)
  const [id] = context.words
  if (id === undefined) throw new UsageFault('Which operation? Its id stands in bottega status.')
  const { path, body } = await findOperation(context, id)
  const seen = body?.operation ?? {}
  if (context.flags.follow === true) {
    return showEnd(context, isEnded(seen) ? seen : await followOperation(context, path))
  }
  showMembers(context, body)
  return EXIT.ok
}
