import { spawnSync } from 'node:child_process'
import { CommandRefusal } from './refusal.ts'

/** How a program ended, and what it said. */
export type CommandOutcome = { ok: boolean; stdout: string; stderr: string }
export type CommandOptions = { input?: string; timeoutMs?: number }

const usualMs = 60_000
const outputBytesMax = 64 * 1024 ** 2

/** Runs a program to its end, whatever that is. */
export function attempt(command: string, args: readonly string[], options: CommandOptions = {}): CommandOutcome {
  const { input = '', timeoutMs: timeout = usualMs } = options
  const maxBuffer = outputBytesMax
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', input, timeout, maxBuffer })
  return { ok: status === 0, stdout: stdout ?? '', stderr: error ? error.message : (stderr ?? '') }
}

/** Runs a program and gives its stdout; a Refusal with its own words when it fails. */
export function run(command: string, args: readonly string[], options: CommandOptions = {}): string {
  const { ok, stdout, stderr } = attempt(command, args, options)
  if (!ok) throw new CommandRefusal(`${command} ${args.join(' ')} failed (see above).`, { detail: stderr.trim() })
  return stdout
}
