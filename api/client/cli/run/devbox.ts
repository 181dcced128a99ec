/** Dev instances over REST: how one stands, and what is asked for it. The provisioner does what was asked. */
import { flagName } from '../args.ts'
import type { CommandContext } from '../context.ts'
import type { AnswerBody } from '../net/api.ts'
import { EXIT, type ExitCode, RefusedByApi, UsageFault } from '../net/outcome.ts'
import { memberLines } from '../show/show.ts'
import { oneLine } from '../show/terminal.ts'
import { believedBox } from '../ssh/believed.ts'
import { type EditorLinks, editorLinks } from '../ssh/links.ts'
import { loginChoice } from '../ssh/options.ts'
import { typedValues } from './env.ts'
import { settled } from './follow.ts'
import { askTyped, queryOf } from './generic.ts'
import { refuseWords } from './looks.ts'

const at = (id: string, more = ''): string => `/api/devboxes/${encodeURIComponent(id)}${more}`

/** The instance that the command is about, as the server says it. */
export const readBox = async (context: CommandContext): Promise<AnswerBody> => {
  const path = `${at(await context.subject())}${queryOf(context)}`
  return (await context.api.call({ method: 'GET', path })).body?.devbox ?? {}
}

const usd = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : '-')

const repoLine = ({ repo }: AnswerBody): string =>
  repo ? `repo: ${repo.url ?? '-'}${repo.ref ? ` at ${repo.ref}` : ''}` : 'repo: none'

const wishLines = ({ wanted }: AnswerBody): string[] => {
  if (!wanted) return []
  const size = wanted.sizeClass ? `${wanted.sizeClass} with ${wanted.diskGb} GB` : null
  const what = [wanted.power, size].filter(Boolean).join(', ')
  const by = wanted.generation === null ? 'over REST' : `by generation ${wanted.generation} of its resource`
  return [`wished: ${what}, ${by}, at ${wanted.since}`]
}

const askedLines = ({ asked, intent }: AnswerBody): string[] => [
  ...(asked?.starting ? [`asked: a start, at ${asked.starting.announcedAt}`] : []),
  ...(asked?.terminating ? [`asked: its end, at ${asked.terminating.announcedAt}`] : []),
  ...(intent ? [`asked: ${intent.to?.sizeClass} with ${intent.to?.diskGb} GB, at ${intent.announcedAt}`] : []),
]

const listOf = (value: unknown): AnswerBody[] => (Array.isArray(value) ? value : [])

const boxLines = (box: AnswerBody): string[] => {
  const { policy, price } = box
  const size = [box.sizeClass, box.arch, `${box.diskGb} GB`, box.instanceType].filter(Boolean).join(', ')
  return [
    `${box.name} (${box.id}) is ${box.state} since ${box.stateSince}: ${size}`,
    `address: ${box.publicIp ?? 'none'}`,
    `price: ${usd(price?.runningMonthlyUsd)} USD a month while it runs, ${usd(price?.stoppedMonthlyUsd)} while it is stopped; ${usd(box.costToDateUsd)} until now`,
    repoLine(box),
    `policy: stops after ${policy?.idleMinutes} idle minutes, larger sizes: ${policy?.autoscale}`,
    `env: ${listOf(box.envKeys).join(', ') || '-'}`,
    `host keys: ${listOf(box.hostKeys).join(', ') || 'none attested yet'}`,
    ...askedLines(box),
    ...wishLines(box),
    ...listOf(box.conditions).map(({ type, message }: AnswerBody) => `condition: ${type}: ${message}`),
    `allowed: ${listOf(box.allowedActions).join(', ') || '-'}`,
  ].map((line) => oneLine(line, 1_000))
}

/** None where the server says a name that no link may hold. */
const linksOf = (context: CommandContext, box: AnswerBody): EditorLinks | null => {
  try {
    return editorLinks(believedBox(box), loginChoice(context.flags))
  } catch (error) {
    if (!(error instanceof RefusedByApi)) throw error
    context.terminal.say(`There are no links: ${oneLine(error.message, 300)}`)
    return null
  }
}

const linkLines = ({ id }: AnswerBody, { host, vscode, jetbrains }: EditorLinks): string[] => [
  `ssh: bottega devbox ssh ${id}`,
  `VS Code: ${vscode}`,
  `JetBrains Gateway: ${jetbrains}`,
  `  (both want the host ${host} in ~/.ssh/config: bottega devbox config ${id})`,
]

export const runBoxShow = async (context: CommandContext): Promise<ExitCode> => {
  refuseWords(context)
  const { terminal } = context
  const box = await readBox(context)
  const links = linksOf(context, box)
  if (terminal.isJson) terminal.json({ devbox: box, links })
  else for (const line of [...boxLines(box), ...(links ? linkLines(box, links) : [])]) terminal.out(line)
  return EXIT.ok
}

/** Its answer: what a rehearsal foretells, or how the instance stands. */
const showRequest = ({ terminal }: CommandContext, body: AnswerBody, words: string): void => {
  if (terminal.isJson) terminal.json(body ?? {})
  else if (body?.dryRun) for (const line of memberLines(body.dryRun)) terminal.out(line)
  else {
    if (body?.devbox?.state) for (const line of boxLines(body.devbox)) terminal.out(line)
    terminal.say(oneLine(words, 300))
  }
}

/** Compare and set on the version that is there now, unless the caller says which he has seen. */
const request = async (context: CommandContext, words: (id: string) => string): Promise<ExitCode> => {
  refuseWords(context)
  const { flags } = context
  const id = await context.subject()
  const seen = flags.version ?? String((await context.api.call({ method: 'GET', path: at(id) })).body?.devbox?.version)
  const answer = await askTyped({ ...context, flags: { ...flags, version: seen } })
  if (answer === null) return EXIT.ok
  showRequest(context, answer.body, words(id))
  return answer.exitCode
}

export const runBoxStart = (context: CommandContext): Promise<ExitCode> =>
  request(context, (id) => `Asked for; the provisioner starts it. Look: bottega devbox show ${id}`)

export const runBoxHalt = (context: CommandContext): Promise<ExitCode> =>
  request(context, (id) => `Asked for; the provisioner stops it. Look: bottega devbox show ${id}`)

export const runBoxResize = (context: CommandContext): Promise<ExitCode> => {
  if (context.flags.sizeClass === undefined && context.flags.body === undefined) {
    throw new UsageFault(`Which class? Say --${flagName('sizeClass')} M; for a larger disk alone, its present class.`)
  }
  return request(context, (id) => `Asked for; the provisioner does it. Look: bottega devbox show ${id}`)
}

/** Names only. */
export const runBoxEnv = async (context: CommandContext): Promise<ExitCode> => {
  refuseWords(context)
  const { terminal } = context
  const keys: string[] = (await readBox(context)).envKeys ?? []
  if (terminal.isJson) terminal.json({ keys })
  else if (keys.length === 0) terminal.say('There is none.')
  else for (const key of keys) terminal.out(oneLine(key, 200))
  return EXIT.ok
}

export const runBoxEnvReplace = async (context: CommandContext): Promise<ExitCode> => {
  const { api, flags, terminal, words } = context
  if (words.length === 0 && flags.file === undefined) {
    throw new UsageFault('It replaces all of it: say NAME=value, or --file FILE; an empty file leaves none.')
  }
  const env = await typedValues(context)
  const id = await context.subject()
  const key = typeof flags.idempotency_key === 'string' ? { key: flags.idempotency_key } : {}
  const answer = await api.call({ method: 'PUT', path: at(id, '/env'), json: { env }, ...key })
  const { body, exitCode } = await settled(context, answer)
  if (terminal.isJson) terminal.json(body ?? {})
  else {
    const names = (body?.keys ?? []).join(', ') || 'no name'
    terminal.say(oneLine(`Stored: ${names}. bottega devbox env send ${id} brings it there.`, 1_000))
  }
  return exitCode
}
