/** What every command does that only asks its operation: path, query and body from what was typed, and the answer shown. */
import { bodyFlags, flagName, isSwitch } from '../args.ts'
import { type CommandContext, readSecret } from '../context.ts'
import type { AnswerBody } from '../net/api.ts'
import { type ExitCode, UsageFault } from '../net/outcome.ts'
import { appAnswerLines } from '../show/app.ts'
import { memberLines, tableLines } from '../show/show.ts'
import { type DescribedField, pathParams } from '../table/described.ts'
import type { CliCommand } from '../table/table.ts'
import { type SettledAnswer, settled } from './follow.ts'

/** Columns of a list that no row chose. */
const COLUMNS_MOST = 6

/** Arguments by their names. @throws UsageFault when one is missing or too many */
const argsOf = ({ args, name }: CliCommand, words: readonly string[]): Record<string, string | string[]> => {
  const given: Record<string, string | string[]> = {}
  let at = 0
  for (const { name: arg, optional, rest } of args) {
    if (rest) {
      given[arg] = words.slice(at)
      at = words.length
    } else if (words[at] !== undefined) {
      given[arg] = words[at] ?? ''
      at += 1
    } else if (!optional) {
      throw new UsageFault(`${name} needs ${arg}. bottega ${name} --help shows how.`)
    }
  }
  const over = words[at]
  if (over !== undefined) throw new UsageFault(`${name} takes no ${JSON.stringify(over.slice(0, 60))}.`)
  return given
}

/** @returns the path with what stands for its parameters, escaped */
const pathOf = async (context: CommandContext, args: Record<string, string | string[]>): Promise<string> => {
  const { command } = context
  const subject = command.hasSubject ? await context.subject() : undefined
  const { path } = command.operation
  const [first] = pathParams(path)
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = subject !== undefined && name === first ? subject : args[name]
    return encodeURIComponent(String(value ?? ''))
  })
}

/** As the API writes it. @throws UsageFault */
const typedValue = (field: DescribedField, value: string | boolean | string[]): unknown => {
  const flag = `--${flagName(field.name)}`
  if (typeof value !== 'string') return value
  if (field.type === 'json') return jsonFrom(value, flag)
  if (field.orNumber && /^\d+$/.test(value)) return Number(value)
  if (field.type !== 'integer' && field.type !== 'number') return value
  if (!/^-?\d+(\.\d+)?$/.test(value)) throw new UsageFault(`${flag} takes a number, not ${value.slice(0, 60)}.`)
  return Number(value)
}

const jsonFrom = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageFault(`${what} is no JSON.`)
  }
}

const put = (body: Record<string, unknown>, name: string, value: unknown): void => {
  const [first = '', ...rest] = name.split('.')
  if (rest.length === 0) {
    body[first] = value
    return
  }
  const inner = (body[first] ?? {}) as Record<string, unknown>
  body[first] = { ...inner, [rest.join('.')]: value }
}

/** The query of a command, with what it says beside its flags. */
export const queryOf = ({ command, flags }: CommandContext, more: Record<string, string> = {}): string => {
  const query = new URLSearchParams(more)
  for (const field of command.operation.query) {
    const value = flags[field.name]
    if (value === undefined || query.has(field.name) || command.row.without?.includes(field.name)) continue
    query.set(field.name, isSwitch(field) ? (value ? '1' : '0') : String(value))
  }
  return query.size === 0 ? '' : `?${query}`
}

const bodyOf = async (context: CommandContext, args: Record<string, string | string[]>): Promise<unknown> => {
  const { command, flags, surroundings } = context
  const fields = command.operation.body
  if (fields === undefined) return undefined
  const given = flags.body
  const body =
    typeof given === 'string'
      ? (jsonFrom(await readSecret(surroundings, given), '--body') as Record<string, unknown>)
      : {}
  for (const field of bodyFlags(command)) {
    const value = flags[field.name]
    if (value === undefined) continue
    const secret = /^(.*)_file$/.exec(field.name)?.[1]
    const isSecret = secret !== undefined && command.surface.secrets.includes(secret)
    if (isSecret) put(body, secret, await readSecret(surroundings, String(value)))
    else put(body, field.name, typedValue(field, value))
  }
  for (const field of fields) {
    const value = args[field.name]
    if (value !== undefined) put(body, field.name, typedValue(field, value))
  }
  return body
}

/** Items in the order of what a row, or the description, says of them. */
const columnsOf = ({ row, operation }: CliCommand): readonly string[] =>
  row.columns ?? operation.answer?.fields.slice(0, COLUMNS_MOST) ?? ['id']

/** Shows an answer: a list as a table, anything else member by member. */
export const showAnswer = ({ command, terminal }: CommandContext, body: AnswerBody): void => {
  if (terminal.isJson) {
    terminal.json(body ?? {})
    return
  }
  const { answer } = command.operation
  const items = answer?.list ? body?.[answer.name] : undefined
  if (!Array.isArray(items)) {
    for (const line of appAnswerLines(body) ?? memberLines(body ?? {})) terminal.out(line)
    return
  }
  if (items.length === 0) terminal.say('There is none.')
  else for (const line of tableLines(items, columnsOf(command))) terminal.out(line)
  if (typeof body.total === 'number' && body.total > items.length)
    terminal.say(`${items.length} of ${body.total}; --offset ${(body.offset ?? 0) + items.length} shows the next.`)
}

/** Asks the operation of a command as it was typed. Null: it answered that there is nothing to show. @throws UsageFault, RefusedByApi, GaveUp */
export const askTyped = async (context: CommandContext): Promise<SettledAnswer | null> => {
  const { command, flags, api } = context
  const { method } = command.operation
  const args = argsOf(command, context.words)
  if (method === 'DELETE' && flags.yes !== true) throw new UsageFault(`${command.name} cannot be undone; say --yes.`)
  const json = await bodyOf(context, args)
  const path = `${await pathOf(context, args)}${queryOf(context)}`
  const key = typeof flags.idempotency_key === 'string' ? { key: flags.idempotency_key } : {}
  const headers = flags.no_wait === true ? { prefer: 'respond-async' } : {}
  const answer = await api.call({ method, path, headers, ...key, ...(json !== undefined && { json }) })
  return answer.status === 204 ? null : settled(context, answer)
}

/** @throws UsageFault, RefusedByApi, GaveUp */
export const runGeneric = async (context: CommandContext): Promise<ExitCode> => {
  const answer = await askTyped(context)
  if (answer === null) {
    if (context.terminal.isJson) context.terminal.json({})
    else context.terminal.say('Done.')
    return 0
  }
  showAnswer(context, answer.body)
  return answer.exitCode
}
