import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { SMTPServer } from 'smtp-server'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'

export type MailCatcherOptions = {
  /** Where each mail becomes one `.eml` file, whole from the moment it is there; names sort by arrival. Null: none is kept. */
  dir: string | null
  /** 0 draws one. */
  port: number
  /** Loopback when absent. */
  host?: string
  /** Answers RCPT TO with this code for recipients that hold the text: `{ 'refused@': 550 }`. */
  refuse?: Readonly<Record<string, number>>
  /** How long each mail is held before it is taken. */
  delayMs?: number
}

export type MailCatcher = { port: number; stop(): Promise<void> }

const sizeLimitBytes = 20 * 1024 ** 2

/** An SMTP server that keeps every mail as a file and sends none on. */
export async function startMailCatcher({
  dir,
  port,
  host = '127.0.0.1',
  refuse = {},
  delayMs = 0,
}: MailCatcherOptions): Promise<MailCatcher> {
  if (dir !== null) mkdirSync(dir, { recursive: true })
  let sequence = 0
  const keep = async (chunks: readonly Buffer[]) => {
    sequence += 1
    const name = `${Date.now()}-${String(sequence).padStart(6, '0')}`
    if (delayMs > 0) await sleep(delayMs)
    if (dir === null) return
    const partial = join(dir, `.${name}.partial`)
    // synchronous: a thread pool's round trips cost more processor time than these small writes, and benchmarks count it
    writeFileSync(partial, Buffer.concat(chunks))
    renameSync(partial, join(dir, `${name}.eml`))
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username = '' }, _session, done) => done(null, { user: username }), // any password is good
    disableReverseLookup: true,
    logger: false,
    size: sizeLimitBytes,
    onRcptTo({ address }, _session, done) {
      const code = Object.entries(refuse).find(([text]) => address.includes(text))?.[1]
      done(code === undefined ? null : Object.assign(new Error('refused as asked'), { responseCode: code }))
    },
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => keep(chunks).then(() => done(), done))
    },
  })
  server.on('error', () => {}) // a client that hangs up is its own affair
  const bound = await new Promise<number>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.server.address()
      resolve(address !== null && typeof address === 'object' ? address.port : port)
    })
  })
  return { port: bound, stop: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** `--port N (--dir D | --discard) [--refuse TEXT=CODE]… [--delay-ms N]` */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      dir: { type: 'string' },
      discard: { type: 'boolean', default: false },
      refuse: { type: 'string', multiple: true, default: [] },
      'delay-ms': { type: 'string', default: '0' },
    },
  })
  if (values.dir === undefined && !values.discard)
    throw new CommandRefusal('--dir is needed, the folder for the mails, or --discard.', { exitCode: 2 })
  const refuse = Object.fromEntries(
    values.refuse.map((pair) => [pair.slice(0, pair.lastIndexOf('=')), Number(pair.slice(pair.lastIndexOf('=') + 1))]),
  )
  const dir = values.discard ? null : (values.dir ?? null)
  const options = { dir, port: Number(values.port), refuse, delayMs: Number(values['delay-ms']) }
  const catcher = await startMailCatcher(options).catch((cause) => {
    throw new CommandRefusal(`The mail catcher could not listen: ${messageOf(cause)}.`, { cause })
  })
  console.log(
    `mail catcher on 127.0.0.1:${catcher.port}, ${dir === null ? 'mails are taken and not kept' : `mails in ${dir}`}`,
  )
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  await Promise.race([catcher.stop(), sleep(1_000, undefined, { ref: false })])
  return 0
}

if (import.meta.main) {
  await runCommand(main)
  process.exit() // a client that keeps its pooled connection open is no reason to stay
}
