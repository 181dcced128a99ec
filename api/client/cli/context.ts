/** What a command has to work with: the API with its token, the terminal, and what was typed. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Flags } from './args.ts'
import { type ApiClient, makeApi } from './net/api.ts'
import { RefusedByApi, UsageFault } from './net/outcome.ts'
import type { Terminal } from './show/terminal.ts'
import { durationMs } from './show/words.ts'
import type { CliCommand, Surface } from './table/table.ts'

/** What of the surroundings the client reads. */
export type CliSurroundings = {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** All that comes in on stdin. */
  readInput(): Promise<string>
  version: string
  signal: AbortSignal
}

export type CommandContext = {
  command: CliCommand
  flags: Flags
  /** Arguments without the subject. */
  words: readonly string[]
  api: ApiClient
  terminal: Terminal
  surroundings: CliSurroundings
  /** The id of what the command is about, as an app. @throws UsageFault, RefusedByApi */
  subject(): Promise<string>
  /** What goes on with this when it is interrupted. */
  goesOn(words: string): void
}

/** Waits at most so long, unless told otherwise. */
const TIMEOUT_DEFAULT = '30m'
const TOKEN = /^\S+$/
const [TOKEN_MIN, TOKEN_MAX] = [8, 4_096]
/** Behind the word of an id that the API draws; one that was chosen by kubectl is looked for. */
const DRAWN = /^-[0-9a-f]{32}$/

/** A secret from a file or from what comes in; the line feed at its end is not part of it. */
export const readSecret = async ({ readInput, cwd }: CliSurroundings, path: string): Promise<string> => {
  if (path === '-') return (await readInput()).replace(/\r?\n$/, '')
  try {
    return readFileSync(resolve(cwd, path), 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new UsageFault(`${path} cannot be read: ${(error as Error).message}.`)
  }
}

const tokenFrom = async (surroundings: CliSurroundings, flags: Flags, terminal: Terminal): Promise<string> => {
  const file = flags.token_file
  if (typeof file === 'string' && file !== '-' && existsSync(file) && (statSync(file).mode & 0o077) !== 0)
    terminal.say(`${file} can be read by others on this machine; chmod 600 it.`)
  const text =
    typeof file === 'string'
      ? await readSecret(surroundings, file)
      : flags.token === '-'
        ? ((await surroundings.readInput()).split(/\r?\n/)[0] ?? '')
        : (surroundings.env.BOTTEGA_TOKEN ?? '')
  const token = text.trim()
  if (token === '') {
    throw new UsageFault(
      'There is no token: set BOTTEGA_TOKEN, or say --token-file FILE, or --token - for what comes in.',
    )
  }
  if (token.length < TOKEN_MIN || token.length > TOKEN_MAX || !TOKEN.test(token))
    throw new UsageFault('What was given as a token is none: it is one word, btg_….')
  return token
}

const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)

const urlFrom = ({ env }: CliSurroundings, flags: Flags, terminal: Terminal): string => {
  const given = typeof flags.url === 'string' ? flags.url : (env.BOTTEGA_URL ?? '')
  if (given === '') throw new UsageFault('There is no address: set BOTTEGA_URL, or say --url https://….')
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageFault(`${given} is no http or https address.`)
  if (url.username !== '' || url.password !== '') throw new UsageFault('The address holds a password; leave it out.')
  if (url.protocol === 'http:' && !isLoopback(url))
    terminal.say(`${url.host} is asked without TLS: others may read along.`)
  return url.origin
}

/** @returns the API as the caller of the command; nothing is asked yet. @throws UsageFault */
export const openApi = async (
  surroundings: CliSurroundings,
  flags: Flags,
  terminal: Terminal,
  /** No end of its own. */
  { lasts }: { lasts: boolean } = { lasts: false },
): Promise<ApiClient> => {
  const timeout = typeof flags.timeout === 'string' ? flags.timeout : TIMEOUT_DEFAULT
  const ms = durationMs(timeout)
  if (ms === null) throw new UsageFault(`--timeout takes a time as 90s, 15m or 1h, not ${timeout}.`)
  const baseUrl = urlFrom(surroundings, flags, terminal)
  const token = await tokenFrom(surroundings, flags, terminal)
  const endMs = lasts ? Number.POSITIVE_INFINITY : performance.now() + ms
  const { version, signal } = surroundings
  return makeApi({ baseUrl, token, terminal, version, endMs, signal })
}

/** What `bottega.json` names, in the folder that is worked in: the app. */
const namedByFolder = (folder: string, member: string): string | undefined => {
  const path = join(folder, 'bottega.json')
  if (!existsSync(path)) return undefined
  try {
    const named = JSON.parse(readFileSync(path, 'utf8'))[member]
    return typeof named === 'string' ? named : undefined
  } catch {
    throw new UsageFault('bottega.json is no JSON.')
  }
}

const configured = (
  { chosenBy }: Surface['subject'],
  { env, cwd }: CliSurroundings,
  folder = '.',
): string | undefined => chosenBy && (env[chosenBy.variable] || namedByFolder(resolve(cwd, folder), chosenBy.member))

/**
 * Which word names the subject, as the app: that of --app, else the first one when there are more words than the command takes by
 * itself, or when nothing else names it.
 */
export const splitSubject = (
  command: CliCommand,
  flags: Flags,
  words: readonly string[],
  surroundings: CliSurroundings,
): { named: string | undefined; words: readonly string[] } => {
  if (!command.hasSubject) return { named: undefined, words }
  const { args, surface } = command
  const flag = flags[surface.subject.word]
  if (typeof flag === 'string') return { named: flag, words }
  const most = args.some(({ rest }) => rest) ? Number.POSITIVE_INFINITY : args.length
  const isFolder = args[0]?.name === 'dir' && words.length <= 1
  const known = configured(surface.subject, surroundings, isFolder ? words[0] : '.')
  if (words.length > most || (known === undefined && words.length > 0 && !isFolder)) {
    return { named: words[0], words: words.slice(1) }
  }
  return { named: known, words }
}

const isDrawn = ({ drawn }: Surface['subject'], named: string): boolean =>
  drawn !== undefined && named.startsWith(drawn) && DRAWN.test(named.slice(drawn.length))

/** @throws UsageFault when nothing, or more than one, is called so */
export const subjectId = async (api: ApiClient, { subject }: Surface, named: string | undefined): Promise<string> => {
  const { word, list, member, knownBy, listedBy = member } = subject
  if (named === undefined) {
    throw new UsageFault(`Which ${word}? Say --${word} NAME; bottega ${listedBy} lists them.`)
  }
  if (isDrawn(subject, named)) return named
  const found: { id: string }[] = []
  for (let offset = 0; ; offset += 200) {
    const { body } = await api.call({ method: 'GET', path: `${list}?limit=200&offset=${offset}` })
    const items = (body?.[member] ?? []) as Record<string, string>[]
    found.push(...(items.filter((item) => item[knownBy] === named || item.id === named) as { id: string }[]))
    if (items.length < 200) break
  }
  const [first, second] = found
  if (!first) {
    const detail = `This account has no ${word} ${JSON.stringify(named.slice(0, 80))}.`
    throw new RefusedByApi({ status: 404, code: 'NOT_FOUND', detail, next: `bottega ${listedBy} lists them.` })
  }
  if (second)
    throw new UsageFault(
      `More than one ${word} is called ${named}: say its id, ${found.map(({ id }) => id).join(' or ')}.`,
    )
  return first.id
}
