import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../structure/tree.ts'

/** The client as others run it: the one file, on some Node, with nothing of this process in its environment. */

export const CLIENT = join(root, 'api', 'client', 'bottega.mjs')

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into, field by field
export type Parsed = any
export type CliRun = { code: number | null; out: string; err: string; json: Parsed }

export type CliOptions = {
  input?: string
  env?: Record<string, string>
  cwd?: string
  /** Told of everything that has come on stderr so far. */
  onErr?(text: string, child: ChildProcess): void
  withinMs?: number
}

export type Cli = (args: readonly string[], options?: CliOptions) => Promise<CliRun>

const parsed = (text: string): Parsed => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const makeCli =
  ({
    node = process.execPath,
    env = {},
    cwd = '/',
  }: {
    node?: string
    env?: Record<string, string>
    cwd?: string
  }): Cli =>
  (args, { input, env: more = {}, cwd: place = cwd, onErr, withinMs = 120_000 } = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn(node, [CLIENT, ...args], {
        cwd: place,
        env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env, ...more },
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      let [out, err] = ['', '']
      const timer = setTimeout(() => child.kill('SIGKILL'), withinMs)
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString()
      })
      child.stderr.on('data', (chunk: Buffer) => {
        err += chunk.toString()
        onErr?.(err, child)
      })
      child.on('error', reject)
      child.on('close', (code) => {
        clearTimeout(timer)
        resolve({ code, out, err, json: parsed(out) })
      })
      child.stdin.on('error', () => undefined)
      child.stdin.end(input ?? '')
    })

/** Files by their paths below a folder; a path that ends in a slash is an empty folder. */
export const writeTree = (folder: string, files: Readonly<Record<string, string | Uint8Array>>): void => {
  for (const [path, content] of Object.entries(files)) {
    const at = join(folder, path)
    mkdirSync(path.endsWith('/') ? at : dirname(at), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(at, content)
  }
}
