import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { Agent, request } from 'undici'

/**
 * Asks one URL again and again, never more than once at a time, from a thread of its own: whoever makes and sends bodies of
 * megabytes would measure its own pauses.
 */

export type AskedUrl = { url: string; headers?: Record<string, string> }
/** `atMs` on the clock of the machine (Unix time). */
export type Timed = { atMs: number; tookMs: number }

const ASK_EVERY_MS = 25

/** Works again and again, never more than once at a time. @returns what ends it, with how long each took */
export const pacing = (work: () => Promise<void>, everyMs = ASK_EVERY_MS): (() => Promise<Timed[]>) => {
  const timed: Timed[] = []
  let isOn = true
  const run = async () => {
    while (isOn) {
      const atMs = performance.timeOrigin + performance.now()
      await work()
      const tookMs = performance.timeOrigin + performance.now() - atMs
      timed.push({ atMs, tookMs })
      await sleep(Math.max(0, everyMs - tookMs))
    }
  }
  const running = run()
  return async () => {
    isOn = false
    await running
    return timed
  }
}

/** @returns what ends it, with all that was asked by then */
export const askBeside = (ask: AskedUrl): (() => Promise<Timed[]>) => {
  const worker = new Worker(new URL(import.meta.url), { workerData: ask })
  const ended = once(worker, 'message') // rejects with whatever stops the worker
  ended.catch(() => {})
  return async () => {
    worker.postMessage('end')
    const [asked] = await ended
    return asked as Timed[]
  }
}

/** Far behind all that is measured. */
const NICENESS = 15

/**
 * Whoever attacks has a machine of their own: what makes and sends bodies here takes no core from what is measured.
 * @returns what lets all threads of this process that there are at this call give way; those that ask are made between the two.
 *   Who is made later gives way as well, and is answered no sooner for it.
 */
export const standBack = (): (() => void) => {
  const threads = readdirSync('/proc/self/task')
  return () => {
    for (const thread of threads) setPriority(Number(thread), NICENESS)
  }
}

const askOn = ({ url, headers = {} }: AskedUrl, port: NonNullable<typeof parentPort>): void => {
  const dispatcher = new Agent({ connections: 1 })
  const end = pacing(async () => {
    const { body } = await request(url, { dispatcher, headers })
    await body.dump()
  })
  port.once('message', async () => {
    const asked = await end()
    await dispatcher.close()
    port.postMessage(asked)
  })
}

if (parentPort) askOn(workerData as AskedUrl, parentPort)
