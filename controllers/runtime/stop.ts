/** A bounded end: not ready first, then each part in order, and a way out when one of them hangs. */
import type { Log } from './log.ts'

/** Below the 30 s that Kubernetes gives a pod. */
const STOP_LIMIT_MS = 25_000

export type Stopper = (leftMs: number) => unknown | Promise<unknown>

export type StopOptions = {
  log: Log
  limitMs?: number
  /** For tests. */
  exit?: (code: number) => void
  source?: Pick<NodeJS.Process, 'on' | 'removeListener'>
}

export type Stop = {
  /** Parts are stopped in the order they were added: readiness, intake, work, lease, connections. */
  add(name: string, stopper: Stopper): void
  /** Aborts when the stop begins. */
  signal: AbortSignal
  /** Begins it; resolves when every part has stopped, before the exit. */
  begin(why: string): Promise<void>
  /** At once, without stopping anything: for a leader that has lost its lease. */
  abandon(why: string): void
  /** Takes the handlers off the process. */
  dispose(): void
}

/**
 * Installs handlers for SIGTERM and SIGINT (stop, exit 0; a second one exits 1 at once) and for errors that nobody caught
 * (logged, exit 1: their process is in no known state).
 */
export const installStop = (options: StopOptions): Stop => {
  const { log } = options
  const limitMs = options.limitMs ?? STOP_LIMIT_MS
  const source = options.source ?? process
  const exit = options.exit ?? ((code: number) => process.exit(code))
  const parts: { name: string; stopper: Stopper }[] = []
  const control = new AbortController()
  let running: Promise<void> | undefined

  const stopAll = async (endAt: number, at: (name: string) => void) => {
    for (const { name, stopper } of parts) {
      at(name)
      try {
        await stopper(Math.max(0, endAt - performance.now()))
      } catch (error) {
        log.error({ err: error, part: name }, 'part did not stop cleanly')
      }
    }
  }

  const stop = async (why: string) => {
    log.info({ why }, 'stopping')
    control.abort()
    let current = ''
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), limitMs)
    })
    const done = stopAll(performance.now() + limitMs, (name) => {
      current = name
    })
    const ended = await Promise.race([done, late])
    clearTimeout(timer)
    if (ended === 'late') log.error({ part: current, limitMs }, 'stop took too long')
    else log.info({ why }, 'stopped')
    exit(ended === 'late' ? 1 : 0)
  }

  const begin = (why: string): Promise<void> => {
    running ??= stop(why)
    return running
  }

  const abandon = (why: string) => {
    log.fatal({ why }, 'ended at once')
    exit(1)
  }

  const onSignal = (name: NodeJS.Signals) => {
    if (running) return abandon(`second ${name}`)
    void begin(name)
  }
  const onError = (error: unknown) => {
    log.fatal({ err: error }, 'error that nobody caught')
    exit(1)
  }
  source.on('SIGTERM', onSignal)
  source.on('SIGINT', onSignal)
  source.on('uncaughtException', onError)
  source.on('unhandledRejection', onError)

  return {
    add: (name, stopper) => {
      parts.push({ name, stopper })
    },
    signal: control.signal,
    begin,
    abandon,
    dispose: () => {
      for (const name of ['SIGTERM', 'SIGINT'] as const) source.removeListener(name, onSignal)
      for (const name of ['uncaughtException', 'unhandledRejection']) source.removeListener(name, onError)
    },
  }
}
