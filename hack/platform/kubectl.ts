import { spawn } from 'node:child_process'
import { CommandRefusal } from '../lib/refusal.ts'

/** Runs kubectl with one kubeconfig and gives its stdout; a Refusal with its own words when it fails. */
export type Kubectl = (args: readonly string[], input?: unknown) => Promise<string>

/** `input`, when given, is a list of manifests and goes to stdin (for `-f -`). */
export function createKubectl(path: string, kubeconfig: string): Kubectl {
  return (args, input) =>
    runClient({ name: 'kubectl', path, args: [`--kubeconfig=${kubeconfig}`, ...args], action: args[0], input })
}

export type ClientRun = {
  name: string
  path: string
  args: readonly string[]
  /** The command among the arguments: a failure names it. */
  action: string | undefined
  input?: unknown
  env?: Readonly<Record<string, string>>
}

/** Runs a client of the API server without holding up this process, and gives its stdout; a Refusal with its own words. */
export function runClient({ name, path, args, action, input, env }: ClientRun): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    let out = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text
    })
    child.stdin.on('error', () => {}) // it ended before reading everything: its exit code says why
    child.stdin.end(input === undefined ? '' : JSON.stringify(input))
    child.once('error', () =>
      reject(new CommandRefusal(`${name} could not be started: ${path} is missing or may not be run.`)),
    )
    child.once('close', (code) => {
      if (code === 0) resolve(out)
      else {
        const detail = errors.trim()
        reject(new CommandRefusal(`${name} ${action} failed: ${detail.split('\n').at(-1)}`, { detail }))
      }
    })
  })
}

/** Many manifests as the one object that kubectl reads. */
export function asList(items: readonly unknown[]): unknown {
  return { apiVersion: 'v1', kind: 'List', items }
}
