/** The env of an app: names and values from arguments or from a file, which nobody else on the machine can read along. */
import { readEnvFile } from '../../../../crds/app/compose/reading/dotenv.ts'
import { type CommandContext, readSecret } from '../context.ts'
import { type ExitCode, UsageFault } from '../net/outcome.ts'
import { showEnded } from './ended.ts'
import { settled } from './follow.ts'
import { showAnswer } from './generic.ts'

/** Values by name; null takes a name out. */
type Change = Record<string, string | null>

const pairOf = (word: string): [string, string] => {
  const at = word.indexOf('=')
  if (at < 1)
    throw new UsageFault(`${JSON.stringify(word.slice(0, 60))} is no NAME=value; --file FILE reads a file of them.`)
  return [word.slice(0, at), word.slice(at + 1)]
}

/** What a whole file of values may come to. */
const ROOM_CHARS = 1_000_000

/** The file is read as Compose reads env files. A variable that has no value there is a mistake, and no empty text. */
const fileValues = async ({ flags, surroundings }: CommandContext): Promise<Change> => {
  if (typeof flags.file !== 'string') return {}
  const text = await readSecret(surroundings, flags.file)
  const onMissing = (name: string) => {
    throw new UsageFault(`${flags.file} uses $${name}, which it does not set; put the value between single quotes.`)
  }
  const read = readEnvFile(text, { value: () => undefined, onMissing, room: { left: ROOM_CHARS } })
  if (!('values' in read)) throw new UsageFault(`Line ${read.line} of ${flags.file}: ${read.detail} ${read.next}`)
  return Object.fromEntries(read.values)
}

const change = async (context: CommandContext, method: 'PATCH' | 'PUT', env: Change): Promise<ExitCode> => {
  if (Object.keys(env).length === 0 && method === 'PATCH') {
    throw new UsageFault('There is nothing to change: say NAME=value, or --file FILE.')
  }
  const id = await context.subject()
  const { flags, api } = context
  const key = typeof flags.idempotency_key === 'string' ? { key: flags.idempotency_key } : {}
  const path = `/api/apps/${encodeURIComponent(id)}/env`
  context.goesOn(`status ${id}`)
  const answer = await api.call({ method, path, json: { env }, headers: { prefer: 'respond-async' }, ...key })
  const end = await settled(context, answer)
  if (end.operation !== null) return showEnded(context, { id, end })
  showAnswer(context, end.body)
  return end.exitCode
}

/** What was typed and what stands in the file, of which the former wins. @throws UsageFault */
export const typedValues = async (context: CommandContext): Promise<Change> => ({
  ...(await fileValues(context)),
  ...Object.fromEntries(context.words.map(pairOf)),
})

export const runEnvSet = async (context: CommandContext): Promise<ExitCode> =>
  change(context, 'PATCH', await typedValues(context))

export const runEnvReplace = async (context: CommandContext): Promise<ExitCode> =>
  change(context, 'PUT', await typedValues(context))

export const runEnvUnset = async (context: CommandContext): Promise<ExitCode> =>
  change(context, 'PATCH', Object.fromEntries(context.words.map((name) => [name, null])))
