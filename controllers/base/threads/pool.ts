/**
 * Work on what callers wrote, in threads of its own, so that a long one holds up nothing else: queues with bounds before a few
 * threads, each with a bound on its memory and on the CPU time of one job. Accounts take turns.
 */
import { once } from 'node:events'
import { type Transferable, Worker } from 'node:worker_threads'
import { nameOf } from '../errors.ts'
import { makeTurns, type Turns } from './turns.ts'

export type ThreadLimits = {
  threads: number
  /** Jobs that wait for a thread. */
  queueMax: number
  /** What of one account waits for a thread, in units of work; one job always may. */
  accountUnitsMax: number
  /** How long a job waits for a thread before its asker is told that all are busy. */
  waitMaxMs: number
  /** CPU time of one job; a thread that needs more is ended. A loaded machine condemns nobody. */
  cpuMaxMs: number
  /** The same by the clock on the wall, for a thread that stands still. */
  wallMaxMs: number
  /** Of JavaScript objects in one thread; what is handed over as bytes lies outside of it. */
  heapMaxMib: number
  /** How often the CPU time of a thread at work is read; 250 when left out. */
  lookMs?: number
  /** A thread without a job for so long is ended; never when left out. */
  idleMaxMs?: number
  /** Of a thread with all its bytes outside of the heap, as seen at a look; when left out they are bounded by what is handed over. */
  memoryMaxMib?: number
  /** Jobs of one account that are done at once; all threads when left out. */
  accountThreadsMax?: number
}

const LOOK_MS = 250
const MIB = 1_048_576

/** What a thread answers: the result or why there is none (and what sort of error), and its CPU time since it began. */
export type ThreadAnswer<Result> = { cpuMs: number } & ({ result: Result } | { fault: string; sort: string })

/** A job that would not end within what one may take. `needs` says what that was. */
export class TooDear extends Error {
  readonly needs: string

  constructor(what: string, needs: string) {
    super(`${what} needs ${needs}`)
    this.name = 'TooDear'
    this.needs = needs
  }
}

/** A job that failed by itself, or its thread with it. `how` is safe to show, which the message may not be: it may quote the job. */
export class JobFailed extends Error {
  readonly how: string

  constructor(message: string, how: string) {
    super(message)
    this.name = 'JobFailed'
    this.how = how
  }
}

/** Whose job it is. The signal takes it out of the queue; one that is being done is done to its end. */
export type Asker = { account: string; signal?: AbortSignal }

export type Threads<Job, Result> = {
  /** @throws TooDear; JobFailed with what the job itself threw; what `busy` makes when too much waits */
  run(job: Job, asker: Asker, units?: number): Promise<Result>
  /** Ends the threads; what waits or is being done is refused. */
  close(): Promise<void>
}

export type ThreadsOptions<Job> = {
  /** The thread's own file, which calls serveThread. */
  entry: URL
  /** What of a job is given away instead of copied: nobody else has it until the thread gives it back. */
  handOver?(job: Job): Transferable[]
  /** A job, as the errors name it: `The document`. */
  what: string
  limits: ThreadLimits
  busy(): Error
}

type Waiter<Job, Result> = {
  job: Job
  account: string
  units: number
  resolve(result: Result): void
  reject(error: Error): void
  /** It waits no longer. */
  leave(): void
}
/** `cpuMs`: what the thread had used when its last job was done. */
type Thread<Job, Result> = {
  worker: Worker
  busy: Waiter<Job, Result> | null
  cpuMs: number
  timer: NodeJS.Timeout | null
}
type Pool<Job, Result> = {
  options: ThreadsOptions<Job>
  turns: Turns<Waiter<Job, Result>>
  threads: Set<Thread<Job, Result>>
  closed: boolean
}

const isOutOfMemory = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY'

/** The thread is idle again; gives the one who waited for it. */
const settle = <Job, Result>(thread: Thread<Job, Result>): Waiter<Job, Result> | null => {
  const waiter = thread.busy
  if (thread.timer) clearTimeout(thread.timer)
  thread.busy = null
  thread.timer = null
  thread.worker.unref()
  return waiter
}

/** It ends once it has been idle for long. */
const rest = <Job, Result>(pool: Pool<Job, Result>, thread: Thread<Job, Result>): void => {
  const { idleMaxMs } = pool.options.limits
  if (idleMaxMs === undefined || thread.busy) return
  thread.timer = setTimeout(() => end(pool, thread, new Error('idle')), idleMaxMs).unref()
}

const end = <Job, Result>(pool: Pool<Job, Result>, thread: Thread<Job, Result>, error: Error): void => {
  if (!pool.threads.delete(thread)) return
  settle(thread)?.reject(error)
  void thread.worker.terminate()
  if (!pool.closed) feed(pool)
}

const start = <Job, Result>(pool: Pool<Job, Result>): Thread<Job, Result> => {
  const { entry, what, limits } = pool.options
  const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: limits.heapMaxMib } })
  const thread: Thread<Job, Result> = { worker, busy: null, cpuMs: 0, timer: null }
  pool.threads.add(thread)
  worker.unref()
  worker.on('message', (answer: ThreadAnswer<Result>) => {
    const waiter = settle(thread)
    thread.cpuMs = answer.cpuMs
    if ('result' in answer) waiter?.resolve(answer.result)
    else waiter?.reject(new JobFailed(answer.fault, answer.sort))
    feed(pool)
    rest(pool, thread)
  })
  worker.on('error', (error) => {
    if (isOutOfMemory(error)) end(pool, thread, new TooDear(what, `more than ${limits.heapMaxMib} MiB of memory`))
    else end(pool, thread, new JobFailed(error instanceof Error ? error.message : String(error), nameOf(error)))
  })
  worker.on('exit', (code) => {
    end(pool, thread, new JobFailed(`${what}: its thread ended with ${code}`, `its thread ended with ${code}`))
  })
  return thread
}

const memoryMib = async (worker: Worker): Promise<number> => {
  const { external_memory: outside, total_heap_size: heap } = await worker.getHeapStatistics()
  return (outside + heap) / MIB
}

/** Ends a thread whose job has used up its CPU time or its memory, or that stands still. */
const look = async <Job, Result>(
  pool: Pool<Job, Result>,
  thread: Thread<Job, Result>,
  waiter: Waiter<Job, Result>,
  startedAt: number,
): Promise<void> => {
  const { what, limits } = pool.options
  const { wallMaxMs, cpuMaxMs, memoryMaxMib } = limits
  if (performance.now() - startedAt >= wallMaxMs)
    end(pool, thread, new JobFailed(`${what} was not done within ${wallMaxMs} ms`, `not done within ${wallMaxMs} ms`))
  const { user, system } = await thread.worker.cpuUsage()
  const cpuMs = (user + system) / 1000 - thread.cpuMs
  if (thread.busy === waiter && cpuMs >= cpuMaxMs)
    end(pool, thread, new TooDear(what, `more than ${cpuMaxMs} ms of CPU time`))
  const isLarge = memoryMaxMib !== undefined && (await memoryMib(thread.worker)) > memoryMaxMib
  if (isLarge && thread.busy === waiter) end(pool, thread, new TooDear(what, `more than ${memoryMaxMib} MiB of memory`))
}

const begin = <Job, Result>(
  pool: Pool<Job, Result>,
  thread: Thread<Job, Result>,
  waiter: Waiter<Job, Result>,
): void => {
  const { limits } = pool.options
  waiter.leave()
  if (thread.timer) clearTimeout(thread.timer)
  thread.busy = waiter
  thread.worker.ref()
  const startedAt = performance.now()
  // a thread that is ending has no figures any more, and its exit settles it
  thread.timer = setInterval(() => void look(pool, thread, waiter, startedAt).catch(() => {}), limits.lookMs ?? LOOK_MS)
  thread.worker.postMessage(waiter.job, pool.options.handOver?.(waiter.job) ?? [])
}

/** Whether one more of an account may be done beside what is being done for it. */
const mayGo = <Job, Result>({ threads, options }: Pool<Job, Result>, account: string): boolean => {
  const { accountThreadsMax = options.limits.threads } = options.limits
  const atWork = Map.groupBy(threads, ({ busy }) => busy?.account).get(account) ?? []
  return atWork.length < accountThreadsMax
}

const feed = <Job, Result>(pool: Pool<Job, Result>): void => {
  const { turns, threads, options } = pool
  while (turns.size() > 0) {
    const idle = [...threads].find((thread) => thread.busy === null)
    if (!idle && threads.size >= options.limits.threads) return
    const waiter = turns.take((account) => mayGo(pool, account))
    if (!waiter) return
    begin(pool, idle ?? start(pool), waiter)
  }
}

const isFull = <Job, Result>({ turns, options }: Pool<Job, Result>, account: string, units: number): boolean => {
  const { queueMax, accountUnitsMax } = options.limits
  const waiting = turns.of(account).reduce((sum, one) => sum + one.units, 0)
  return turns.size() >= queueMax || (waiting > 0 && waiting + units > accountUnitsMax)
}

const wait = <Job, Result>(
  pool: Pool<Job, Result>,
  job: Job,
  { account, signal }: Asker,
  units: number,
): Promise<Result> => {
  const { limits, what, busy } = pool.options
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const refuse = (error: Error): void => {
    waiter.leave()
    pool.turns.drop(waiter)
    reject(error)
  }
  const timer = setTimeout(() => refuse(busy()), limits.waitMaxMs)
  const onAbort = (): void => refuse(new Error(`${what}: nobody waits for it any longer`))
  const leave = (): void => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
  const waiter: Waiter<Job, Result> = { job, account, units, resolve, reject, leave }
  signal?.addEventListener('abort', onAbort, { once: true })
  pool.turns.add(waiter)
  feed(pool)
  return promise
}

const close = async <Job, Result>(pool: Pool<Job, Result>): Promise<void> => {
  const { turns, threads, options } = pool
  pool.closed = true
  const error = new Error(`${options.what}: its threads are closed`)
  for (let waiter = turns.take(); waiter; waiter = turns.take()) {
    waiter.leave()
    waiter.reject(error)
  }
  await Promise.all(
    [...threads].map(async (thread) => {
      const ended = once(thread.worker, 'exit')
      end(pool, thread, error)
      await ended
    }),
  )
}

/** Threads are started as they are needed, and live on: what they have loaded is their worth. */
export const makeThreads = <Job, Result>(options: ThreadsOptions<Job>): Threads<Job, Result> => {
  const pool: Pool<Job, Result> = { options, turns: makeTurns(), threads: new Set(), closed: false }
  return {
    run: async (job, asker, units = 1) => {
      if (pool.closed) throw new Error(`${options.what}: its threads are closed`)
      asker.signal?.throwIfAborted()
      if (isFull(pool, asker.account, units)) throw options.busy()
      return wait(pool, job, asker, units)
    },
    close: () => close(pool),
  }
}
