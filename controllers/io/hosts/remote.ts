/**
 * Commands as a host gets them: a fixed script as the whole command line, data on stdin. Nothing that a user wrote ever
 * becomes part of a command line.
 */
import assert from 'node:assert/strict'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { textOf } from './scripts.ts'
import { type Channel, ChannelLost, type Connection } from './ssh.ts'

/**
 * A fixed script for a POSIX sh, which begins at home: its text is the whole remote command. Data goes in on stdin; `args`
 * are texts of our own as well.
 */
export type RemoteScript = { name: string; text: string; args?: readonly string[] }
/**
 * What follows the lines on stdin. To the script a cut looks like the end: where that matters, a line says how many
 * bytes to expect.
 */
export type RemoteBody = Buffer | { stream: Readable; bytes: number }
/** `code` is the script's own exit code: other than 0 is an answer, not an error. `stderr` holds its last 64 KiB. */
export type RunResult = { code: number; stdout: Buffer; stderr: string }

const STDERR_KEPT_BYTES = 64 * 1024
export const OUTPUT_BYTES_MAX = 1024 * 1024

/** The command wrote more than was asked for, and was ended. */
export class OutputTooLarge extends Error {
  override name = 'OutputTooLarge'
}

/** Who leads, checked on the host: one mark per installation, raised by each newer leader. */
export type RemoteFence = { installation: string; epoch: number }

/** What `scripts/fence.sh` ends with, and no other script of ours. */
const STALE = 197

/** Somebody leads after us, under the epoch `mark`; the host has seen them. */
export class HostFenced extends Error {
  override name = 'HostFenced'
  readonly mark: number
  constructor(message: string, mark: number) {
    super(message)
    this.mark = mark
  }
}

const markIn = (stderr: string): number => Number(/^epoch (\d{1,15})$/m.exec(stderr)?.[1] ?? 0)

const AT_HOME = textOf('home')
const FENCE = textOf('fence')

/** One word for a POSIX sh. Only for texts of our own. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The host ends it too, when we are not there any more to do so. */
const commandOf = (script: RemoteScript, fence: RemoteFence | null, limitMs: number): string =>
  [
    `exec timeout -s KILL ${Math.ceil(limitMs / 1000) + 1} /bin/sh -c`,
    quoted(`${AT_HOME}${fence ? FENCE : ''}${script.text}`),
    ...(script.args === undefined ? [] : ['sh', ...script.args.map(quoted)]),
  ].join(' ')

const headOf = (fence: RemoteFence | null, lines: readonly string[]): Buffer => {
  const all = [...(fence ? [fence.installation, String(fence.epoch)] : []), ...lines]
  for (const line of all) assert(!/[\n\0]/.test(line), 'a line holds neither a line feed nor NUL')
  return Buffer.from(all.map((line) => `${line}\n`).join(''))
}

/** Keeps the last bytes of what is written. */
const makeTail = (bytes: number) => {
  let kept = Buffer.alloc(0)
  return {
    add: (chunk: Buffer) => {
      kept = Buffer.concat([kept, chunk]).subarray(-bytes)
    },
    text: () => kept.toString('utf8'),
  }
}

export type Execution = {
  script: RemoteScript
  fence: RemoteFence | null
  lines: readonly string[]
  body?: RemoteBody | undefined
  maxOutputBytes: number
  /** After which the host ends it; the signal comes first. */
  limitMs: number
}

const feed = async (channel: Channel, head: Buffer, body: RemoteBody | undefined): Promise<void> => {
  channel.write(head)
  if (body === undefined || Buffer.isBuffer(body)) return void channel.end(body)
  let bytes = 0
  const counted = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      bytes += chunk.length
      yield chunk
    }
    if (bytes !== body.bytes) throw new Error(`a body of ${body.bytes} bytes had ${bytes}`)
  }
  await pipeline(body.stream, counted, channel)
}

const PEER_LEFT = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END', 'EPIPE']

const codeOf = (code: number | null, signal: string | undefined): number =>
  code ?? 128 + (constants.signals[`SIG${signal}` as NodeJS.Signals] ?? 0)

/**
 * Runs a script over a connection; ends it when the signal aborts.
 * @throws ChannelLost (`unknown` once it was handed over), HostFenced, OutputTooLarge, or the signal's reason
 */
export const execute = async (
  connection: Connection,
  { script, fence, lines, body, maxOutputBytes, limitMs }: Execution,
  signal: AbortSignal,
): Promise<RunResult> => {
  signal.throwIfAborted()
  const head = headOf(fence, lines)
  const channel = await connection.exec(commandOf(script, fence, limitMs))
  const stdout: Buffer[] = []
  const stderr = makeTail(STDERR_KEPT_BYTES)
  let bytes = 0
  const result = await new Promise<RunResult>((resolve, reject) => {
    let ended: number | undefined
    const stop = (reason: unknown) => {
      reject(reason)
      channel.close()
    }
    const abort = () => stop(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    channel.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxOutputBytes) stdout.push(chunk)
      else stop(new OutputTooLarge(`${script.name} wrote more than ${maxOutputBytes} bytes`))
    })
    channel.stderr.on('data', stderr.add)
    channel.on('exit', (code: number | null, name?: string) => {
      ended = codeOf(code, name)
    })
    channel.on('close', () => {
      signal.removeEventListener('abort', abort)
      if (ended === undefined) reject(new ChannelLost('unknown', `the connection was lost under ${script.name}`))
      else resolve({ code: ended, stdout: Buffer.concat(stdout), stderr: stderr.text() })
    })
    channel.on('error', () => channel.close())
    feed(channel, head, body).catch((error) => {
      // A script that ends before it has read everything is answered by its exit code, a lost connection by `close`.
      if (!PEER_LEFT.includes(error.code)) stop(error)
    })
  })
  if (fence && result.code === STALE)
    throw new HostFenced(`another leader than epoch ${fence.epoch} works on this host`, markIn(result.stderr))
  return result
}
