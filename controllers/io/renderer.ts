/**
 * Draws documents in threads of their own, so that a long one holds up nothing else: a queue with a bound before a few
 * threads, each with a bound on its memory and on the time of one document.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Frozen, FrozenDraft } from '../../crds/invoice/frozen.ts'
import { Waiting } from '../runtime/errors.ts'
import type { Extras, Pdf } from './pdf.ts'

export type RendererLimits = {
  /** 0: the renderer is off. */
  threads: number
  /** Documents that wait for a thread. */
  queueMax: number
  /** Of one document; a thread that needs longer is ended. */
  renderTimeoutMs: number
  /** Of JavaScript objects in one thread; font files and the document lie outside of it. */
  heapMaxMib: number
}

export const RENDERER_LIMITS: RendererLimits = { threads: 1, queueMax: 64, renderTimeoutMs: 20_000, heapMaxMib: 96 }

const BUSY_RETRY_MS = 2_000
const OFF_RETRY_MS = 60_000

/** What a thread is given, and what it answers. */
export type RenderJob = { frozen: Frozen | FrozenDraft; extras: Extras }
export type Rendered = { bytes: Uint8Array } | { fault: string }

/** `close` ends the threads; what waits or is drawn is refused. */
export type Renderer = Pdf & { close(): Promise<void> }

type Waiter = { job: RenderJob; resolve(bytes: Buffer): void; reject(error: Error): void }
type Thread = { worker: Worker; busy: Waiter | null; timer: NodeJS.Timeout | null }

const ENTRY = new URL('./renderthread.ts', import.meta.url)

/** Threads are started as they are needed, and live on: parsed fonts are their worth. */
export const makeRenderer = (limits: RendererLimits = RENDERER_LIMITS): Renderer => {
  const queue: Waiter[] = []
  const threads = new Set<Thread>()
  let closed = false

  const end = (thread: Thread, error: Error): void => {
    if (!threads.delete(thread)) return
    settle(thread)?.reject(error)
    void thread.worker.terminate()
    if (!closed) feed()
  }

  const start = (): Thread => {
    const worker = new Worker(ENTRY, { resourceLimits: { maxOldGenerationSizeMb: limits.heapMaxMib } })
    const thread: Thread = { worker, busy: null, timer: null }
    threads.add(thread)
    worker.unref()
    worker.on('message', (answer: Rendered) => {
      const waiter = settle(thread)
      if ('bytes' in answer) waiter?.resolve(Buffer.from(answer.bytes.buffer))
      else waiter?.reject(new Error(answer.fault))
      feed()
    })
    worker.on('error', (error) => end(thread, error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', (code) => end(thread, new Error(`The thread that draws documents ended with ${code}`)))
    return thread
  }

  const feed = (): void => {
    while (queue.length > 0) {
      const idle = [...threads].find(({ busy }) => busy === null)
      const thread = idle ?? (threads.size < limits.threads ? start() : undefined)
      const waiter = thread && queue.shift()
      if (!thread || !waiter) return
      thread.busy = waiter
      thread.worker.ref()
      thread.timer = setTimeout(
        () => end(thread, new Error(`A document was not drawn within ${limits.renderTimeoutMs} ms`)),
        limits.renderTimeoutMs,
      )
      thread.worker.postMessage(waiter.job)
    }
  }

  return {
    render: async (frozen, extras = {}) => {
      if (limits.threads === 0) {
        throw new Waiting('PDF_RENDER_OFF', 'PDF_RENDER_OFF: the renderer is switched off', OFF_RETRY_MS)
      }
      if (closed) throw new Error('The renderer is closed')
      if (queue.length >= limits.queueMax) {
        throw new Waiting('PDF_BUSY', `PDF_BUSY: ${queue.length} documents wait to be drawn`, BUSY_RETRY_MS)
      }
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
      queue.push({ job: { frozen, extras }, resolve, reject })
      feed()
      return promise
    },
    close: async () => {
      closed = true
      const error = new Error('The renderer is closed')
      for (const { reject } of queue.splice(0)) reject(error)
      await Promise.all(
        [...threads].map(async (thread) => {
          const ended = once(thread.worker, 'exit')
          end(thread, error)
          await ended
        }),
      )
    },
  }
}

/** The thread is idle again; gives who waited for it. */
const settle = (thread: Thread): Waiter | null => {
  const { busy } = thread
  if (thread.timer) clearTimeout(thread.timer)
  thread.busy = null
  thread.timer = null
  thread.worker.unref()
  return busy
}
