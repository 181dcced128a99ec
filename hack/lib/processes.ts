import { spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandRefusal, codeOf } from './refusal.ts'

/** How a process is started. It gets a session of its own, so a Ctrl-C on the terminal reaches its parent only. */
export type Launch = {
  name: string
  command: string
  args: readonly string[]
  logFile: string
  /** Put into the process's environment, so that a start after a crash can find what is left (see findOwned). */
  owner: string
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
  uid?: number
  gid?: number
}

export type Ending = { code: number | null; signal: NodeJS.Signals | null }

/** A process that can be started, stopped, killed, and started again. */
export type Service = {
  readonly name: string
  readonly logFile: string
  /** The pid while it runs, else null. */
  pid(): number | null
  /** Starts it and waits until it is ready; a Refusal with the tail of its log when it ends before that. */
  start(): Promise<void>
  /** Asks it to end, insists after `graceMs`, and returns when it is gone. */
  stop(): Promise<void>
  /** SIGKILL, to it and its children, as a crash would. */
  kill(): Promise<void>
  /** Called when it ends without having been asked to. */
  onDeath(listener: (ending: Ending) => void): void
}

type ServiceOptions = {
  launch: () => Launch
  ready: (signal: AbortSignal) => Promise<void>
  name: string
  logFile: string
  stopSignal?: NodeJS.Signals
  graceMs?: number
}

const ownerVariable = 'BOTTEGA_OWNER'
const nameVariable = 'BOTTEGA_PROCESS'

/** Wires one process into a Service; `ready` is polled knowledge of the caller and is aborted when the process ends. */
export function createService({
  name,
  logFile,
  launch,
  ready,
  stopSignal = 'SIGTERM',
  graceMs = 10_000,
}: ServiceOptions): Service {
  let running: { pid: number; ended: Promise<Ending> } | null = null
  let stopping = false
  const listeners: ((ending: Ending) => void)[] = []

  const end = async (signal: NodeJS.Signals, waitMs: number) => {
    if (running === null) return
    const { pid, ended } = running
    stopping = true
    send(pid, signal)
    const gone = await Promise.race([ended.then(() => true), sleep(waitMs, false, { ref: false })])
    if (!gone) send(pid, 'SIGKILL')
    await ended
  }

  return {
    name,
    logFile,
    pid: () => running?.pid ?? null,
    onDeath: (listener) => void listeners.push(listener),
    stop: () => end(stopSignal, graceMs),
    async kill() {
      if (running === null) return
      const family = childrenOf(running.pid)
      await end('SIGKILL', graceMs)
      for (const child of family) if (startOf(child.pid) === child.start) send(child.pid, 'SIGKILL')
      await waitUntilGone(family, graceMs)
    },
    async start() {
      if (running !== null) return
      stopping = false
      const began = spawnLogged(launch())
      const me = { pid: began.pid, ended: began.ended }
      running = me
      let isReady = false
      void me.ended.then((ending) => {
        if (running === me) running = null
        if (isReady && !stopping) for (const listener of listeners) listener(ending)
      })
      await untilReady({ name, logFile, ended: me.ended, ready }).catch(async (error) => {
        await end(stopSignal, graceMs)
        throw error
      })
      isReady = true
    },
  }
}

type Starting = { name: string; logFile: string; ended: Promise<Ending>; ready: (signal: AbortSignal) => Promise<void> }

async function untilReady({ name, logFile, ended, ready }: Starting): Promise<void> {
  const abort = new AbortController()
  const readiness = ready(abort.signal)
  readiness.catch(() => {}) // when the process ends first, nobody waits for this any more
  const early = await Promise.race([readiness.then(() => null), ended])
  abort.abort()
  if (early !== null) {
    throw new CommandRefusal(`${name} ended right after its start (${describe(early)}); its log is ${logFile}.`, {
      detail: tailOf(logFile),
    })
  }
}

/** The pid of one that runs. @throws when it does not: a signal to nobody would go to ourselves */
export function pidOf(service: Service): number {
  const pid = service.pid()
  if (pid === null) throw new Error(`${service.name} does not run`)
  return pid
}

/** `exit code 1`, `signal SIGKILL`. */
export function describe({ code, signal }: Ending): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}

let closed = false

/** From now on nothing is started any more: called when everything is being taken down, whatever is still under way. */
export function refuseLaunches(): void {
  closed = true
}

function spawnLogged({ command, args, logFile, name, owner, env = {}, ...rest }: Launch): {
  pid: number
  ended: Promise<Ending>
} {
  if (closed) throw new CommandRefusal(`${name} was not started: everything is being stopped.`)
  const log = openSync(logFile, 'a', 0o600)
  const merged = { ...withoutOurs(process.env), ...env, [ownerVariable]: owner, [nameVariable]: name }
  const child = spawn(command, args, { ...rest, env: merged, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', (error) => (child.pid === undefined ? reject(error) : undefined))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  if (child.pid === undefined) {
    ended.catch(() => {})
    throw new CommandRefusal(`${name} could not be started: ${command} is missing or may not be run.`)
  }
  return { pid: child.pid, ended }
}

/** A setting meant for this command (or for the test that runs it) is no setting of what it starts. */
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BOTTEGA_')))
}

/** Polls `check` until it is true; a Refusal saying what was waited for when `timeoutMs` is over. */
export async function waitFor(
  what: string,
  check: () => Promise<boolean>,
  { timeoutMs, signal, everyMs = 50 }: Waiting,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while (!(await check())) {
    if (signal?.aborted) return
    if (performance.now() > deadlineMs) throw new CommandRefusal(`Waited ${timeoutMs / 1000} s for ${what} in vain.`)
    await sleep(everyMs)
  }
}
type Waiting = { timeoutMs: number; signal?: AbortSignal; everyMs?: number }

/** The last lines of a log, for a message. */
export function tailOf(logFile: string, lines = 15): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
  } catch {
    return ''
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** A process by pid and start time: the kernel hands a pid out again, but never with the same start. */
export type ProcessId = { pid: number; start: string }
export type OwnedProcess = ProcessId & { name: string }

/** When the process started (clock ticks since boot, with the boot's id), or null when there is none or only its zombie. */
export function startOf(pid: number): string | null {
  const stat = statOf(pid)
  return stat === null || stat.state === 'Z' ? null : `${stat.start}@${bootId()}`
}

function statOf(pid: number): { state: string; parent: number; start: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // the name before it may hold spaces and brackets
    return { state: fields[0] ?? '', parent: Number(fields[1]), start: fields[19] ?? '' }
  } catch {
    return null
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}

function allPids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

function childrenOf(pid: number): ProcessId[] {
  return allPids().flatMap((child) => {
    const start = statOf(child)?.parent === pid ? startOf(child) : null
    return start === null ? [] : [{ pid: child, start }]
  })
}

/** Every process launched for `owner` (or `owner/…`) that is still there, its children too, whatever their parent is now. */
export function findOwned(owner: string): OwnedProcess[] {
  return allPids().flatMap((pid) => {
    const env = environOf(pid)
    const of = env.get(ownerVariable) ?? ''
    if (pid === process.pid || (of !== owner && !of.startsWith(`${owner}/`))) return []
    const start = startOf(pid)
    return start === null ? [] : [{ pid, start, name: env.get(nameVariable) ?? '' }]
  })
}

/** Ends processes by their pids at once, and waits until they are gone. */
export async function endPids(pids: readonly number[]): Promise<void> {
  const found = pids.flatMap((pid) => {
    const start = pid === process.pid ? null : startOf(pid)
    return start === null ? [] : [{ pid, start }]
  })
  for (const { pid } of found) send(pid, 'SIGKILL')
  await waitUntilGone(found, 10_000)
}

/** Ends all that runs as a user, until nothing of it is left to start anything anew. */
export async function endUserProcesses(uid: number): Promise<void> {
  const ofUser = () => allPids().filter((pid) => uidOf(pid) === uid)
  for (let pids = ofUser(); pids.length > 0; pids = ofUser()) {
    await endPids(pids)
    if (ofUser().every((pid) => startOf(pid) === null)) return
  }
}

function uidOf(pid: number): number | null {
  try {
    return statSync(`/proc/${pid}`).uid
  } catch {
    return null
  }
}

function environOf(pid: number): Map<string, string> {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
  } catch {
    return new Map() // gone meanwhile, or another user's
  }
}

/** Ends processes in the order given (SIGINT means a fast, clean stop to PostgreSQL too), insisting after `graceMs` each. */
export async function endProcesses(
  processes: readonly ProcessId[],
  graceMs = 10_000,
  signal: NodeJS.Signals = 'SIGINT',
): Promise<void> {
  for (const one of processes) {
    if (startOf(one.pid) === one.start) send(one.pid, signal)
    if (await waitUntilGone([one], graceMs)) continue
    send(one.pid, 'SIGKILL')
    await waitUntilGone([one], graceMs)
  }
}

async function waitUntilGone(processes: readonly ProcessId[], timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs
  while (processes.some(({ pid, start }) => startOf(pid) === start)) {
    if (performance.now() > deadlineMs) return false
    await sleep(20)
  }
  return true
}
