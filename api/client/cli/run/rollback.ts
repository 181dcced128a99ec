/** Going back to a release; without a number, to the one that was live before. */
import type { CommandContext } from '../context.ts'
import type { AnswerBody } from '../net/api.ts'
import { EXIT, type ExitCode, UsageFault } from '../net/outcome.ts'
import { memberLines } from '../show/show.ts'
import { showEnded } from './ended.ts'
import { settled } from './follow.ts'
import { queryOf } from './generic.ts'

const at = (id: string, more: string): string => `/api/apps/${encodeURIComponent(id)}${more}`

const releaseBefore = async ({ api, terminal }: CommandContext, id: string): Promise<number> => {
  const { body } = await api.call({ method: 'GET', path: at(id, '/releases?limit=200') })
  const before = ((body?.releases ?? []) as AnswerBody[]).find(({ state }) => state === 'superseded')
  if (!before) throw new UsageFault('There is no release before the live one. bottega releases lists them.')
  terminal.say(`going back to release ${before.number}`)
  return before.number
}

export const runRollback = async (context: CommandContext): Promise<ExitCode> => {
  const { api, flags, terminal, words } = context
  const [word, over] = words
  if (over !== undefined) throw new UsageFault(`rollback takes no ${JSON.stringify(over.slice(0, 60))}.`)
  const id = await context.subject()
  const release = word === undefined ? await releaseBefore(context, id) : /^\d+$/.test(word) ? Number(word) : word
  context.goesOn(`status ${id}`)
  const answer = await api.call({
    method: 'POST',
    path: at(id, `/rollback${queryOf(context)}`),
    json: { release, ...(typeof flags.env === 'string' && { env: flags.env }) },
    headers: { prefer: 'respond-async' },
    ...(typeof flags.idempotency_key === 'string' && { key: flags.idempotency_key }),
  })
  if (answer.body?.plan === undefined) return showEnded(context, { id, end: await settled(context, answer) })
  if (terminal.isJson) terminal.json(answer.body)
  else for (const line of memberLines(answer.body.plan)) terminal.out(line)
  return EXIT.ok
}
