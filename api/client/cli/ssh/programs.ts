/** OpenSSH's own programs, so that the caller's agent, hardware key and jump hosts work without a word about them. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'

export type ProgramRun = { code: number | null; out: string; err: string }

export type ProgramLimits = { timeoutMs?: number; bytesMax: number }

/** `SHA256:…`, as ssh-keygen shows it. @param key `type base64` */
export const fingerprintOf = (key: string): string => {
  const bytes = Buffer.from(key.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(bytes).digest('base64').replaceAll('=', '')}`
}

export type ProgramCall = {
  program: string
  args: readonly string[]
  /** What it reads; null: what this process reads. */
  input: string | null
  env?: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
}

const textOf = (): { add(chunk: Buffer, bytesMax: number): void; text(): string } => {
  const chunks: Buffer[] = []
  let bytes = 0
  return {
    add(chunk, bytesMax) {
      // cut in bytes: a chunk may end within a letter
      const part = chunk.subarray(0, Math.max(0, bytesMax - bytes))
      bytes += part.length
      if (part.length > 0) chunks.push(part)
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  }
}

/** Runs a program, and keeps what it says. Rejects where there is no such program. */
export const runProgram = (call: ProgramCall, { timeoutMs, bytesMax }: ProgramLimits): Promise<ProgramRun> =>
  new Promise((resolve, reject) => {
    const { program, args, input, env, signal } = call
    const child = spawn(program, args, {
      stdio: [input === null ? 'inherit' : 'pipe', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
      ...(env && { env }),
      ...(signal && { signal }),
    })
    const [out, err] = [textOf(), textOf()]
    child.stdout?.on('data', (chunk: Buffer) => out.add(chunk, bytesMax))
    child.stderr?.on('data', (chunk: Buffer) => err.add(chunk, bytesMax))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out: out.text(), err: err.text() }))
    // who ends before it has read all is judged by its code
    child.stdin?.on('error', () => undefined)
    if (input !== null) child.stdin?.end(input)
  })

/** Runs a program in the place of this one: at its terminal. Gives its exit code, null when a signal ended it. */
export const runInPlace = ({ program, args, env, signal }: Omit<ProgramCall, 'input'>): Promise<number | null> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', ...(env && { env }) })
    const end = () => void child.kill('SIGTERM')
    signal?.addEventListener('abort', end, { once: true })
    child.on('error', reject)
    child.on('close', (code) => {
      signal?.removeEventListener('abort', end)
      resolve(code)
    })
  })

const SCAN_SECONDS = 5
const SCAN_BYTES_MAX = 64 * 1024
const SCAN_MS = 30_000

/** Host keys that answer at an address, as `type base64`; none while nothing answers. They are not to be trusted for that. */
export const scanKeys = async (publicIp: string, port: number): Promise<string[]> => {
  const args = ['-p', String(port), '-T', String(SCAN_SECONDS), '--', publicIp]
  const { out } = await runProgram(
    { program: 'ssh-keyscan', args, input: '' },
    { timeoutMs: SCAN_MS, bytesMax: SCAN_BYTES_MAX },
  )
  return out
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ').slice(1, 3).join(' '))
}
