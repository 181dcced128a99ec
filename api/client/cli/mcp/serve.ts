/**
 * The Model Context Protocol over stdin and stdout: JSON-RPC, a message a line. What is served is small (six tools, no state), so the
 * protocol is spoken here and judged in tests by the official client (hack/decisions/079).
 */
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { type CliSurroundings, type CommandContext, openApi, subjectId } from '../context.ts'
import { EXIT, type ExitCode, GaveUp, RefusedByApi, UsageFault } from '../net/outcome.ts'
import { oneLine, type Terminal } from '../show/terminal.ts'
import { COMMANDS } from '../table/commands.ts'
import { argumentFaults } from './arguments.ts'
import { type ToolAnswer, toolRefusal } from './bounded.ts'
import { INSTRUCTIONS, TOOLS } from './definitions.ts'
import { RUN_TOOL, type ToolCall } from './tools.ts'

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
/** Of one message. */
const LINE_MAX_CHARS = 1_000_000
/** Of what a tool asks beside what it waits for. */
const CALL_SECONDS = 300
const CODES = { parse: -32700, invalid: -32600, noMethod: -32601, badParams: -32602, internal: -32603 } as const

type Id = string | number
// biome-ignore lint/suspicious/noExplicitAny: messages are looked into, member by member
type Message = any

type Server = {
  root: string
  isReadOnly: boolean
  flags: Record<string, string>
  surroundings: CliSurroundings
  terminal: Terminal
  running: Map<Id, AbortController>
  write(message: object): void
}

class ProtocolFault extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const FLAGS = {
  url: { type: 'string' },
  'token-file': { type: 'string' },
  root: { type: 'string' },
  'read-only': { type: 'boolean' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean' },
} as const

/** Tells what a command would say on the way as progress of the call, to whoever asked for it. */
const progressTerminal = (server: Server, token: unknown): Terminal => {
  let progress = 0
  const told = (line: string) => {
    if (token === undefined) return
    progress += 1
    const params = { progressToken: token, progress, message: oneLine(line, 300) }
    server.write({ jsonrpc: '2.0', method: 'notifications/progress', params })
  }
  const nothing = () => undefined
  return {
    isJson: false,
    out: nothing,
    json: nothing,
    fail: nothing,
    say: told,
    passing: told,
    paint: (_, text) => text,
  }
}

const openerOf =
  (server: Server, signal: AbortSignal, terminal: Terminal): ToolCall['open'] =>
  ({ waitMs, flags = {}, words = [] }) => {
    const command = COMMANDS.find(({ name }) => name === 'deploy')
    if (!command) throw new Error('the table has no deploy')
    const timeout = `${Math.ceil((waitMs ?? CALL_SECONDS * 1_000) / 1_000)}s`
    const surroundings = { ...server.surroundings, cwd: server.root, signal }
    const given: Record<string, string | string[]> = { ...server.flags, ...flags, timeout }
    const opened = openApi(surroundings, given, server.terminal)
    const api: CommandContext['api'] = {
      call: async (asked) => (await opened).call(asked),
      stream: async (asked) => (await opened).stream(asked),
      leftMs: () => endMs - performance.now(),
      baseUrl: '',
    }
    const endMs = performance.now() + (waitMs ?? CALL_SECONDS * 1_000)
    let id: Promise<string> | undefined
    const subject = () => (id ??= subjectId(api, command.surface, String(given.app)))
    return { command, flags: given, words, api, terminal, surroundings, subject, goesOn: () => undefined }
  }

/** A failure of the tool is its answer, which the agent reads; the protocol has none. */
const refusalOf = (error: unknown): ToolAnswer => {
  if (error instanceof RefusedByApi) return toolRefusal(error.refusal)
  if (error instanceof UsageFault) return toolRefusal({ code: 'USAGE', detail: error.message })
  if (error instanceof GaveUp) return toolRefusal({ code: 'NO_ANSWER', detail: error.message })
  return toolRefusal({ code: 'CLIENT_FAULT', detail: (error as Error).message })
}

const callTool = async (server: Server, id: Id, params: Message): Promise<ToolAnswer> => {
  const tool = TOOLS.find(({ name }) => name === params?.name)
  if (!tool) throw new ProtocolFault(CODES.badParams, `There is no tool ${JSON.stringify(params?.name ?? null)}.`)
  const args = params.arguments ?? {}
  const faults = argumentFaults(tool.inputSchema, args)
  if (faults.length > 0) return toolRefusal({ code: 'BAD_ARGUMENTS', detail: faults.join(' ') })
  const stop = new AbortController()
  server.running.set(id, stop)
  const { root, isReadOnly } = server
  const terminal = progressTerminal(server, params._meta?.progressToken)
  try {
    return await RUN_TOOL[tool.name]({ args, root, isReadOnly, open: openerOf(server, stop.signal, terminal) })
  } catch (error) {
    return refusalOf(error)
  } finally {
    server.running.delete(id)
  }
}

const initialised = ({ surroundings }: Server, params: Message) => ({
  protocolVersion: VERSIONS.find((version) => version === params?.protocolVersion) ?? VERSIONS[0],
  capabilities: { tools: { listChanged: false } },
  serverInfo: { name: 'bottega', title: 'Bottega apps', version: surroundings.version },
  instructions: INSTRUCTIONS,
})

const answered = async (server: Server, id: Id, method: string, params: Message): Promise<object> => {
  if (method === 'initialize') return initialised(server, params)
  if (method === 'ping') return {}
  if (method === 'tools/list') return { tools: TOOLS }
  if (method === 'tools/call') return callTool(server, id, params)
  throw new ProtocolFault(CODES.noMethod, `There is no method ${JSON.stringify(method.slice(0, 100))}.`)
}

const notified = ({ running }: Server, method: string, params: Message): void => {
  if (method === 'notifications/cancelled') running.get(params?.requestId)?.abort()
}

const fail = (server: Server, id: Id | null, code: number, message: string): void =>
  server.write({ jsonrpc: '2.0', id, error: { code, message } })

const parsed = (line: string): Message => {
  if (line.length > LINE_MAX_CHARS) return null
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** Reads one message, and answers it if it asks something. Never rejects. */
const take = async (server: Server, line: string): Promise<void> => {
  const message = parsed(line)
  if (message === null) return fail(server, null, CODES.parse, 'This is no JSON, or more than a megabyte of it.')
  const { id, method, params } = message
  if (message.jsonrpc !== '2.0' || Array.isArray(message) || typeof method !== 'string') {
    // an answer to something: we ask nothing
    return method === undefined && id !== undefined
      ? undefined
      : fail(server, null, CODES.invalid, 'This is no request.')
  }
  if (id === undefined) return notified(server, method, params)
  if (typeof id !== 'string' && typeof id !== 'number') return fail(server, null, CODES.invalid, 'The id is none.')
  try {
    const result = await answered(server, id, method, params)
    server.write({ jsonrpc: '2.0', id, result })
  } catch (error) {
    const code = error instanceof ProtocolFault ? error.code : CODES.internal
    fail(server, id, code, error instanceof ProtocolFault ? error.message : 'It failed inside this server.')
  }
}

/** Serves until stdin ends. @param argv behind `mcp` */
export const serveMcp = async ({
  argv,
  terminal,
  surroundings,
}: {
  argv: readonly string[]
  terminal: Terminal
  surroundings: CliSurroundings
}): Promise<ExitCode> => {
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({ args: [...argv], options: FLAGS, strict: true }).values
  } catch (error) {
    throw new UsageFault(
      `${(error as Error).message.split('\n')[0]}. mcp takes --url, --token-file, --root, --read-only.`,
    )
  }
  const { url, 'token-file': tokenFile, root = surroundings.cwd, 'read-only': isReadOnly = false } = values
  if (tokenFile === '-')
    throw new UsageFault('The protocol is spoken over stdin: use BOTTEGA_TOKEN or --token-file FILE.')
  const flags = { ...(url && { url: String(url) }), ...(tokenFile && { token_file: String(tokenFile) }) }
  // said now rather than at the first call
  await openApi(surroundings, flags, terminal)
  const server: Server = {
    root: String(root),
    isReadOnly: isReadOnly === true,
    flags,
    surroundings,
    terminal,
    running: new Map(),
    write: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  }
  const asked = new Set<Promise<void>>()
  const input = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  surroundings.signal.addEventListener('abort', () => input.close())
  for await (const line of input) {
    if (line.trim() === '') continue
    const taking = take(server, line).finally(() => asked.delete(taking))
    asked.add(taking)
  }
  // Who closes stdin asks no more; what runs on the platform goes on there.
  for (const stop of server.running.values()) stop.abort()
  await Promise.allSettled(asked)
  return EXIT.ok
}
