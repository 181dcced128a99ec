/** The client as it is started: words, surroundings and streams in, an exit code out (hack/decisions/079). */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { findCommand, ownWords, readFlags, unknownCommand, wordsOf } from './args.ts'
import { type CliSurroundings, openApi, splitSubject, subjectId } from './context.ts'
import { helpOf, OWN_COMMANDS, overview } from './help.ts'
import { serveMcp } from './mcp/serve.ts'
import { type ApiRefusal, EXIT, type ExitCode, exitCodeFor, GaveUp, RefusedByApi, UsageFault } from './net/outcome.ts'
import { doerOf } from './run/doers.ts'
import { refusalLines } from './show/show.ts'
import { makeTerminal, oneLine, type Terminal } from './show/terminal.ts'
import { COMMANDS } from './table/commands.ts'
import type { CliCommand } from './table/table.ts'

const VERSION = '1'

/** Names these very bytes: the same as the ETag of where they were had from. */
const ownDigest = (): string =>
  createHash('sha256')
    .update(readFileSync(new URL(import.meta.url)))
    .digest('hex')

const readInput = async (): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/** What an interrupted command says. */
type Resumption = { words: string | null }

const interruptedWords = ({ words }: Resumption): string =>
  words === null ? 'Interrupted; nothing was begun.' : `Interrupted; what was begun goes on. Look: bottega ${words}`

const runCommand = async (
  command: CliCommand,
  argv: readonly string[],
  { terminal, surroundings, resumption }: { terminal: Terminal; surroundings: CliSurroundings; resumption: Resumption },
): Promise<number> => {
  const { flags, words } = readFlags(argv, command)
  if (flags.help === true) {
    process.stdout.write(`${helpOf(command)}\n`)
    return EXIT.ok
  }
  const split = splitSubject(command, flags, words, surroundings)
  const api = await openApi(surroundings, flags, terminal, {
    lasts: flags.follow === true && flags.timeout === undefined,
  })
  let id: Promise<string> | undefined
  const context = {
    command,
    flags,
    words: split.words,
    api,
    terminal,
    surroundings,
    subject: () => (id ??= subjectId(api, command.surface, split.named)),
    goesOn: (next: string) => {
      resumption.words = next
    },
  }
  return doerOf(context)(context)
}

const helpWords = (words: readonly string[]): string => {
  const command = findCommand(words, COMMANDS)
  return command ? helpOf(command) : overview(COMMANDS)
}

const ownCommand = async (words: readonly string[], argv: readonly string[], parts: Parts): Promise<ExitCode> => {
  if (words[0] === 'mcp') return serveMcp({ argv: argv.filter((word) => word !== 'mcp'), ...parts })
  if (words[0] === 'version') process.stdout.write(`bottega ${VERSION} sha256:${ownDigest()}\n`)
  else process.stdout.write(`${helpWords(words.slice(1))}\n`)
  return EXIT.ok
}

type Parts = { terminal: Terminal; surroundings: CliSurroundings }

const dispatch = async (argv: readonly string[], parts: Parts & { resumption: Resumption }): Promise<number> => {
  const words = wordsOf(argv)
  // of a command it is the version of a row that was seen
  if (words.length === 0) return ownCommand([argv.includes('--version') ? 'version' : 'help'], argv, parts)
  if (OWN_COMMANDS.some(({ name }) => name === words[0])) return ownCommand(words, argv, parts)
  const command = findCommand(words, COMMANDS)
  if (!command)
    throw unknownCommand(
      words,
      [...COMMANDS, ...OWN_COMMANDS].map(({ name }) => name),
    )
  return runCommand(command, argv, parts)
}

const refusalOf = (error: unknown): ApiRefusal | null => {
  if (error instanceof RefusedByApi) return error.refusal
  if (error instanceof UsageFault) return { status: 0, code: 'USAGE', detail: error.message }
  if (error instanceof GaveUp) return { status: 0, code: 'NO_ANSWER', detail: error.message }
  return null
}

const codeOf = (error: unknown): ExitCode => {
  if (error instanceof UsageFault) return EXIT.usage
  if (error instanceof GaveUp) return error.exitCode
  return error instanceof RefusedByApi ? exitCodeFor(error.refusal.code, error.refusal.status) : EXIT.failed
}

const tell = (terminal: Terminal, error: unknown, resumption: Resumption): void => {
  const message = oneLine(error instanceof Error ? error.message : String(error), 2_000)
  const refusal = refusalOf(error) ?? { status: 0, code: 'CLIENT_FAULT', detail: message }
  if (terminal.isJson) terminal.json({ problem: refusal })
  else for (const line of refusalLines(terminal, refusal)) terminal.fail(line)
  if (error instanceof GaveUp && resumption.words !== null)
    terminal.fail(`It goes on. Look: bottega ${resumption.words}`)
}

const run = async (argv: readonly string[]): Promise<number> => {
  const { env, stdout, stderr } = process
  const isJson = ownWords(argv).includes('--json')
  const noColour = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  const isQuiet = ownWords(argv).includes('--quiet')
  const nowMs = () => performance.now()
  const terminal = makeTerminal({ stdout, stderr }, { isJson, isQuiet, noColour, nowMs })
  const stop = new AbortController()
  const resumption: Resumption = { words: null }
  const surroundings = { env, cwd: process.cwd(), readInput, version: VERSION, signal: stop.signal }
  let isInterrupted = false
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      isInterrupted = true
      stop.abort()
    })
  }
  try {
    return await dispatch(argv, { terminal, surroundings, resumption })
  } catch (error) {
    if (isInterrupted) {
      terminal.fail(interruptedWords(resumption))
      return EXIT.interrupted
    }
    tell(terminal, error, resumption)
    return codeOf(error)
  }
}

/** Who reads no further, as `head`, is no fault of ours. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
const exitCode = await run(process.argv.slice(2))
process.exitCode = exitCode
