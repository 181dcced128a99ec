/**
 * Draws documents in threads of their own, so that a long one holds up nothing else: queues with bounds before a few
 * threads, each with a bound on its memory and on the CPU time of one document. Accounts take turns.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { DRAW_UNITS_MAX, frozenCost } from '../../../crds/invoice/document/drawcost.ts'
import type { Frozen, FrozenDraft } from '../../../crds/invoice/order/frozen.ts'
import { Waiting } from '../../base/errors.ts'
import type { Extras } from './pdf.ts'
import { makeTurns, type Turns } from './turns.ts'

export type RendererLimits = {
  /** 0: the renderer is off. */
  threads: number
  /** Documents that wait for a thread. */
  queueMax: number
  /** What of one account waits for a thread, in units of drawing; one document always may. */
  accountUnitsMax: number
  /** How long a document waits for a thread before its asker gets PDF_BUSY. */
  waitMaxMs: number
  /** CPU time of one document; a thread that needs more is ended. A loaded machine condemns nobody. */
  cpuMaxMs: number
  /** The same by the clock on the wall, for a thread that stands still. */
  drawMaxMs: number
  /** Of JavaScript objects in one thread; font files and the document lie outside of it. */
  heapMaxMib: number
}

export const RENDERER_LIMITS: RendererLimits = {
  threads: 1,
  queueMax: 64,
  accountUnitsMax: DRAW_UNITS_MAX,
  waitMaxMs: 20_000,
  cpuMaxMs: 20_000,
  drawMaxMs: 60_000,
  heapMaxMib: 96,
}

const BUSY_RETRY_MS = 5_000
const OFF_RETRY_MS = 60_000
/** How often the CPU time of a thread at work is read. */
const LOOK_MS = 250

/** What a thread is given, and what it answers: the bytes or why there are none, and its CPU time since it began. */
export type RenderJob = { frozen: Frozen | FrozenDraft; extras: Extras }
export type Rendered = { cpuMs: number } & ({ bytes: Uint8Array } | { fault: string })

/** A document that would not end within what one may take. `needs` says what that was. */
export class TooDear extends Error {
  readonly needs: string

  constructor(needs: string) {
    super(`The document needs ${needs}`)
    this.name = 'TooDear'
    this.needs = needs
  }
}

/** Whose document it is. The signal takes it out of the queue; one that is being drawn is drawn to its end. */
export type Asker = { account: string; signal?: AbortSignal }

export type Renderer = {
  /** @throws TooDear; Waiting while the renderer is busy or off */
  render(frozen: Frozen | FrozenDraft, asker: Asker, extras?: Extras): Promise<Buffer>
  /** Ends the threads; what waits or is drawn is refused. */
  close(): Promise<void>
}

type Waiter = {
  job: RenderJob
  account: string
  units: number
  resolve(bytes: Buffer): void
  reject(error: Error): void
  /** It waits no longer. */
  leave(): void
}
/** `cpuMs`: what the thread had used when its last document was done. */
type Thread = { worker: Worker; busy: Waiter | null; cpuMs: number; timer: NodeJS.Timeout | null }

const ENTRY = new URL('./renderthread.ts', import.meta.url)

const busy = (): Waiting =>
  new Waiting('PDF_BUSY', 'PDF_BUSY: documents wait to be drawn; this one is drawn when it is its turn', BUSY_RETRY_MS)

const isOutOfMemory = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY'

type RendererState = { limits: RendererLimits; turns: Turns<Waiter>; threads: Set<Thread>; closed: boolean }

/** The thread is idle again; gives the one who waited for it. */
const settle = (thread: Thread): Waiter | null => {
  const waiter = thread.busy
  if (thread.timer) clearInterval(thread.timer)
  thread.busy = null
  thread.timer = null
  thread.worker.unref()
  return waiter
}

const end = (state: RendererState, thread: Thread, error: Error): void => {
  if (!state.threads.delete(thread)) return
  settle(thread)?.reject(error)
  void thread.worker.terminate()
  if (!state.closed) feed(state)
}

const start = (state: RendererState): Thread => {
  const { heapMaxMib } = state.limits
  const worker = new Worker(ENTRY, { resourceLimits: { maxOldGenerationSizeMb: heapMaxMib } })
  const thread: Thread = { worker, busy: null, cpuMs: 0, timer: null }
  state.threads.add(thread)
  worker.unref()
  worker.on('message', (answer: Rendered) => {
    const waiter = settle(thread)
    thread.cpuMs = answer.cpuMs
    if ('bytes' in answer) waiter?.resolve(Buffer.from(answer.bytes.buffer))
    else waiter?.reject(new Error(answer.fault))
    feed(state)
  })
  worker.on('error', (error) => {
    if (isOutOfMemory(error)) end(state, thread, new TooDear(`more than ${heapMaxMib} MiB of memory`))
    else end(state, thread, error instanceof Error ? error : new Error(String(error)))
  })
  worker.on('exit', (code) => end(state, thread, new Error(`The thread that draws documents ended with ${code}`)))
  return thread
}

/** Ends a thread whose document has used up its CPU time, or that stands still. */
const look = async (state: RendererState, thread: Thread, waiter: Waiter, startedAt: number): Promise<void> => {
  const { drawMaxMs, cpuMaxMs } = state.limits
  if (performance.now() - startedAt >= drawMaxMs) {
    end(state, thread, new Error(`A document was not drawn within ${drawMaxMs} ms`))
  }
  const { user, system } = await thread.worker.cpuUsage()
  const cpuMs = (user + system) / 1000 - thread.cpuMs
  if (thread.busy === waiter && cpuMs >= cpuMaxMs) {
    end(state, thread, new TooDear(`more than ${cpuMaxMs} ms of CPU time`))
  }
}

const draw = (state: RendererState, thread: Thread, waiter: Waiter): void => {
  waiter.leave()
  thread.busy = waiter
  thread.worker.ref()
  const startedAt = performance.now()
  // a thread that is ending has no figures any more, and its exit settles it
  thread.timer = setInterval(() => void look(state, thread, waiter, startedAt).catch(() => {}), LOOK_MS)
  thread.worker.postMessage(waiter.job)
}

const feed = (state: RendererState): void => {
  const { turns, threads, limits } = state
  while (turns.size() > 0) {
    const idle = [...threads].find((thread) => thread.busy === null)
    const thread = idle ?? (threads.size < limits.threads ? start(state) : undefined)
    const waiter = thread && turns.take()
    if (!thread || !waiter) return
    draw(state, thread, waiter)
  }
}

const isFull = ({ turns, limits }: RendererState, account: string, units: number): boolean => {
  const waiting = turns.of(account).reduce((sum, one) => sum + one.units, 0)
  return turns.size() >= limits.queueMax || (waiting > 0 && waiting + units > limits.accountUnitsMax)
}

const wait = (state: RendererState, job: RenderJob, { account, signal }: Asker, units: number): Promise<Buffer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const refuse = (error: Error): void => {
    waiter.leave()
    state.turns.drop(waiter)
    reject(error)
  }
  const timer = setTimeout(() => refuse(busy()), state.limits.waitMaxMs)
  const onAbort = (): void => refuse(new Error('Nobody waits for the document any longer'))
  const leave = (): void => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
  const waiter: Waiter = { job, account, units, resolve, reject, leave }
  signal?.addEventListener('abort', onAbort, { once: true })
  state.turns.add(waiter)
  feed(state)
  return promise
}

const close = async (state: RendererState): Promise<void> => {
  const { turns, threads } = state
  state.closed = true
  const error = new Error('The renderer is closed')
  for (let waiter = turns.take(); waiter; waiter = turns.take()) {
    waiter.leave()
    waiter.reject(error)
  }
  await Promise.all(
    [...threads].map(async (thread) => {
      const ended = once(thread.worker, 'exit')
      end(state, thread, error)
      await ended
    }),
  )
}

/** Threads are started as they are needed, and live on: parsed fonts are their worth. */
export const makeRenderer = (limits: RendererLimits = RENDERER_LIMITS): Renderer => {
  const state: RendererState = { limits, turns: makeTurns<Waiter>(), threads: new Set(), closed: false }
  return {
    render: async (frozen, asker, extras = {}) => {
      if (limits.threads === 0) {
        throw new Waiting('PDF_RENDER_OFF', 'PDF_RENDER_OFF: the renderer is switched off', OFF_RETRY_MS)
      }
      if (state.closed) throw new Error('The renderer is closed')
      asker.signal?.throwIfAborted()
      const { units } = frozenCost(frozen)
      if (isFull(state, asker.account, units)) throw busy()
      return wait(state, { frozen, extras }, asker, units)
    },
    close: () => close(state),
  }
}
