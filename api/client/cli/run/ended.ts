/** How an operation of an app ended, for people and for scripts: the release, where it serves, or why it does not. */
import type { CommandContext } from '../context.ts'
import type { AnswerBody } from '../net/api.ts'
import { EXIT, type ExitCode } from '../net/outcome.ts'
import { oneLine, type Terminal, visible } from '../show/terminal.ts'
import type { SettledAnswer } from './follow.ts'

const LOG_LINES = 20

/** Release and app as they are now; what cannot be read is left out. */
const seen = async ({ api }: CommandContext, id: string, operation: AnswerBody) => {
  const { body } = await api.call({ method: 'GET', path: `/api/apps/${encodeURIComponent(id)}` })
  const app = body?.app ?? {}
  const number = operation.result?.release ?? null
  const { body: page } = await api.call({
    method: 'GET',
    path: `/api/apps/${encodeURIComponent(id)}/releases?limit=20`,
  })
  const release = ((page?.releases ?? []) as AnswerBody[]).find((one) => one.number === number) ?? null
  return { app, release }
}

const tellFailure = (terminal: Terminal, operation: AnswerBody, release: AnswerBody): void => {
  const { code, detail } = operation.result ?? {}
  const said = oneLine(detail ?? release?.reason ?? 'nobody can say why', 2_000)
  terminal.out(
    `${terminal.paint('red', `✗ ${oneLine(operation.kind, 40)} ${operation.state}`)}: ${code ?? '-'}: ${said}`,
  )
  const lines = visible(release?.log_tail ?? '')
    .trimEnd()
    .split('\n')
    .slice(-LOG_LINES)
  if (release?.log_tail) for (const line of lines) terminal.out(terminal.paint('dim', `  │ ${line.slice(0, 500)}`))
}

const tellEnd = (
  terminal: Terminal,
  operation: AnswerBody,
  { app, release }: { app: AnswerBody; release: AnswerBody },
) => {
  if (operation.state !== 'succeeded') {
    tellFailure(terminal, operation, release)
    if (app.release) terminal.out(`  release ${app.release.number} goes on serving at ${oneLine(app.url ?? '-', 300)}`)
    return
  }
  const what = release ? `release ${release.number} of ${oneLine(app.slug ?? '', 60)}` : oneLine(operation.kind, 40)
  terminal.out(`${terminal.paint('green', '✓')} ${what} serves at ${oneLine(app.url ?? '-', 300)}`)
}

/** @param more members beside them, for scripts */
export const showEnded = async (
  context: CommandContext,
  { id, end, more = {} }: { id: string; end: SettledAnswer; more?: object },
): Promise<ExitCode> => {
  const { terminal } = context
  const { body, operation, exitCode, isPending } = end
  if (operation === null) {
    if (terminal.isJson) terminal.json({ ...body, ...more })
    return exitCode
  }
  if (isPending) {
    if (terminal.isJson) terminal.json({ ...body, ...more })
    else terminal.out(`taken; follow it by: bottega operation ${operation.id} --follow`)
    return EXIT.ok
  }
  const { app, release } = await seen(context, id, operation)
  if (terminal.isJson) terminal.json({ ...body, operation, release, app, ...more })
  else tellEnd(terminal, operation, { app, release })
  return exitCode
}
