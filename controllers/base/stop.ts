/** A bounded end: not ready first, then each part in order; one that hangs takes its own time and no other part's. */
import type { Log } from './log.ts'

/** Below the 30 s that Kubernetes gives a pod. */
const STOP_LIMIT_MS = 25_000
/** Of one part, unless it asks for more; several may hang, and those after them still have theirs. */
const PART_LIMIT_MS = 3_000

export type Stopper = (leftMs: number) => unknown | Promise<unknown>

export type StopOptions = {
  log: Log
  limitMs?: number
  /** For tests. */
  exit?: (code: number) => void
  source?: Pick<NodeJS.Process, 'on' | 'removeListener'>
}

export type Stop = {
  /**
   * Parts are stopped in the order they were added: readiness, intake, work, lease, connections. One that takes longer than
   * its limit is left behind, and the next one follows.
   */
  add(name: string, stopper: Stopper, limitMs?: number): void
  /** Aborts when the stop begins. */
  signal: AbortSignal
  /** Begins it; resolves when every part has stopped, before the exit. */
  begin(why: string): Promise<void>
  /** At once, without stopping anything: for a leader that has lost its lease. */
  abandon(why: string): void
  /** Takes the handlers off the process. */
  dispose(): void
}

type Part = { name: string; stopper: Stopper; limitMs: number }

/** What the handlers share: the parts in their order, and the stop that is under way. */
type Stopping = {
  log: Log
  limitMs: number
  exit: (code: number) => void
  parts: Part[]
  control: AbortController
  running?: Promise<void>
}

/** @returns whether it ended within its time */
const stopPart = async (log: Log, { name, stopper }: Part, leftMs: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, leftMs, false)
  })
  const done = Promise.try(stopper, leftMs).then(
    () => true,
    (error) => {
      log.error({ err: error, part: name }, 'part did not stop cleanly')
      return true
    },
  )
  const inTime = await Promise.race([done, late])
  clearTimeout(timer)
  return inTime
}

const stopAll = async ({ log, limitMs, exit, parts, control }: Stopping, why: string): Promise<void> => {
  log.info({ why }, 'stopping')
  control.abort()
  const endAt = performance.now() + limitMs
  const late: string[] = []
  for (const part of parts) {
    const leftMs = Math.max(0, Math.min(part.limitMs, endAt - performance.now()))
    if (!(await stopPart(log, part, leftMs))) late.push(part.name)
  }
  if (late.length > 0) log.error({ part: late.join(', '), limitMs }, 'stop took too long')
  else log.info({ why }, 'stopped')
  exit(late.length > 0 ? 1 : 0)
}

const begin = (stopping: Stopping, why: string): Promise<void> => {
  stopping.running ??= stopAll(stopping, why)
  return stopping.running
}

const abandon = ({ log, exit }: Stopping, why: string): void => {
  log.fatal({ why }, 'ended at once')
  exit(1)
}

/**
 * Installs handlers for SIGTERM and SIGINT (stop, exit 0; a second one exits 1 at once) and for errors that nobody caught
 * (logged, exit 1: their process is in no known state).
 */
export const installStop = (options: StopOptions): Stop => {
  const source = options.source ?? process
  const stopping: Stopping = {
    log: options.log,
    limitMs: options.limitMs ?? STOP_LIMIT_MS,
    exit: options.exit ?? ((code: number) => process.exit(code)),
    parts: [],
    control: new AbortController(),
  }
  const onSignal = (name: NodeJS.Signals) => {
    if (stopping.running) return abandon(stopping, `second ${name}`)
    void begin(stopping, name)
  }
  const onError = (error: unknown) => {
    stopping.log.fatal({ err: error }, 'error that nobody caught')
    stopping.exit(1)
  }
  source.on('SIGTERM', onSignal)
  source.on('SIGINT', onSignal)
  source.on('uncaughtException', onError)
  source.on('unhandledRejection', onError)

  return {
    add: (name, stopper, limitMs = PART_LIMIT_MS) => {
      stopping.parts.push({ name, stopper, limitMs })
    },
    signal: stopping.control.signal,
    begin: (why) => begin(stopping, why),
    abandon: (why) => abandon(stopping, why),
    dispose: () => {
      for (const name of ['SIGTERM', 'SIGINT'] as const) source.removeListener(name, onSignal)
      for (const name of ['uncaughtException', 'unhandledRejection']) source.removeListener(name, onError)
    },
  }
}
