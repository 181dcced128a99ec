/** The side of a thread: one job after another (pool.ts). */
import { parentPort, type Transferable } from 'node:worker_threads'
import { nameOf } from '../errors.ts'
import type { ThreadAnswer } from './pool.ts'
import { giveWay } from './priority.ts'

/** The calling thread gives way to the others of its process. @param handOver what of a result is given away instead of copied */
export const serveThread = <Job, Result>(
  work: (job: Job) => Result | Promise<Result>,
  handOver: (result: Result) => Transferable[] = () => [],
): void => {
  giveWay()
  parentPort?.on('message', async (job: Job) => {
    let done: { result: Result } | { fault: string; sort: string }
    try {
      done = { result: await work(job) }
    } catch (error) {
      done = { fault: error instanceof Error ? error.message : String(error), sort: nameOf(error) }
    }
    const { user, system } = process.threadCpuUsage()
    const answer: ThreadAnswer<Result> = { ...done, cpuMs: (user + system) / 1000 }
    parentPort?.postMessage(answer, 'result' in done ? handOver(done.result) : [])
  })
}
