import { spawn } from 'node:child_process'
import { Refusal } from './refusal.ts'

/** Runs kubectl with one kubeconfig and gives its stdout; a Refusal with its own words when it fails. */
export type Kubectl = (args: readonly string[], input?: unknown) => Promise<string>

/** `input`, when given, is a list of manifests and goes to stdin (for `-f -`). */
export function createKubectl(path: string, kubeconfig: string): Kubectl {
  return (args, input) =>
    new Promise((resolve, reject) => {
      const child = spawn(path, [`--kubeconfig=${kubeconfig}`, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
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
        reject(new Refusal(`kubectl could not be started: ${path} is missing or may not be run.`)),
      )
      child.once('close', (code) => {
        if (code === 0) resolve(out)
        else
          reject(
            new Refusal(`kubectl ${args[0]} failed: ${errors.trim().split('\n').at(-1)}`, { detail: errors.trim() }),
          )
      })
    })
}

/** Many manifests as the one object that kubectl reads. */
export function asList(items: readonly unknown[]): unknown {
  return { apiVersion: 'v1', kind: 'List', items }
}
