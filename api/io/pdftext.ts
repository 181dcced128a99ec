/**
 * The text of a PDF that somebody sent. Each is read in a thread of its own, under a cap of time, memory, pages and characters,
 * few at once: whatever a document does there, the process goes on.
 */
import { Worker } from 'node:worker_threads'
import type { PdfJob, PdfOutcome } from './pdfworker.ts'

export type PdfLimits = {
  pagesMax: number
  charsMax: number
  timeMs: number
  memoryMb: number
  /** Threads at once. */
  threads: number
  /** How many may wait for a thread. */
  waitingMax: number
  /** Of one account, read and waiting together. */
  accountMax: number
}

export const PDF_LIMITS: PdfLimits = {
  pagesMax: 200,
  charsMax: 200_000,
  timeMs: 10_000,
  memoryMb: 256,
  threads: 2,
  waitingMax: 8,
  accountMax: 4,
}

/** How often the memory of a thread is looked at: what lies outside its heap has no limit of its own. */
const LOOK_MS = 50
const MEGABYTE = 1_048_576

/** Why there is no text. `busy` alone may pass. */
export type PdfRefusal = 'unreadable' | 'encrypted' | 'pages' | 'chars' | 'empty' | 'too much work' | 'busy'

export class PdfRefused extends Error {
  readonly why: PdfRefusal
  readonly pages: number | undefined
  constructor(why: PdfRefusal, pages?: number) {
    super(`the PDF was not read: ${why}`)
    this.name = 'PdfRefused'
    this.why = why
    this.pages = pages
  }
}

export type PdfText = {
  /** The text of each page; one of them has some. @param account whose document it is @throws PdfRefused */
  readPages(bytes: Uint8Array, account: string): Promise<string[]>
  /** The text of all pages, never empty. @throws PdfRefused */
  read(bytes: Uint8Array, account: string): Promise<string>
}

const outsideHeap = async (worker: Worker): Promise<number> => {
  const { external_memory: bytes, total_heap_size: heap } = await worker.getHeapStatistics()
  return (bytes + heap) / MEGABYTE
}

const runThread = (job: PdfJob, { timeMs, memoryMb }: PdfLimits): Promise<PdfOutcome> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./pdfworker.ts', import.meta.url), {
      workerData: job,
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
    })
    // What the reader says of a document is of no use to anybody, and may quote it.
    worker.stdout.resume()
    worker.stderr.resume()
    const end = (settle: () => void) => {
      clearTimeout(timer)
      clearInterval(looking)
      void worker.terminate()
      settle()
    }
    const giveUp = () => end(() => reject(new PdfRefused('too much work')))
    const timer = setTimeout(giveUp, timeMs)
    const looking = setInterval(() => {
      outsideHeap(worker).then(
        (megabytes) => megabytes > memoryMb && giveUp(),
        () => {}, // it has ended meanwhile
      )
    }, LOOK_MS)
    worker.once('message', (outcome: PdfOutcome) => end(() => resolve(outcome)))
    // Out of memory, or broken off by the document.
    worker.once('error', giveUp)
    worker.once('exit', giveUp)
  })

/**
 * Lets `threads` run at once, the others wait in the order they came. @throws PdfRefused busy when too many wait, or too many of one
 * account
 */
const makeGate = ({ threads, waitingMax, accountMax }: PdfLimits) => {
  const waiting: (() => void)[] = []
  const ofAccount = new Map<string, number>()
  let running = 0
  return async <T>(account: string, work: () => Promise<T>): Promise<T> => {
    const own = ofAccount.get(account) ?? 0
    if (own >= accountMax || (running >= threads && waiting.length >= waitingMax)) throw new PdfRefused('busy')
    ofAccount.set(account, own + 1)
    if (running >= threads) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const left = (ofAccount.get(account) ?? 1) - 1
      if (left > 0) ofAccount.set(account, left)
      else ofAccount.delete(account)
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

export const makePdfText = (limits: PdfLimits = PDF_LIMITS): PdfText => {
  const gate = makeGate(limits)
  const { pagesMax, charsMax } = limits
  const readPages = async (bytes: Uint8Array, account: string): Promise<string[]> => {
    // A copy: the bytes of a request may lie in a buffer that others share.
    const outcome = await gate(account, () => runThread({ bytes: new Uint8Array(bytes), pagesMax, charsMax }, limits))
    if ('refused' in outcome) throw new PdfRefused(outcome.refused, outcome.pages)
    if (!outcome.texts.some((text) => /[\p{L}\p{N}]/u.test(text))) throw new PdfRefused('empty')
    return outcome.texts
  }
  return {
    readPages,
    read: async (bytes, account) => (await readPages(bytes, account)).join('\n\n').trim(),
  }
}
