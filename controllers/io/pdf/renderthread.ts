/** A thread that draws one document after another (io/renderer.ts). */
import { parentPort } from 'node:worker_threads'
import { makePdf } from './pdf.ts'
import type { Rendered, RenderJob } from './renderer.ts'

const pdf = makePdf()

const drawn = async ({ frozen, extras }: RenderJob): Promise<{ bytes: Uint8Array } | { fault: string }> => {
  try {
    // a copy of its own, whose bytes can be handed over
    return { bytes: new Uint8Array(await pdf.render(frozen, extras)) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', async (job: RenderJob) => {
  const done = await drawn(job)
  const { user, system } = process.threadCpuUsage()
  const answer: Rendered = { ...done, cpuMs: (user + system) / 1000 }
  parentPort?.postMessage(answer, 'bytes' in done ? [done.bytes.buffer as ArrayBuffer] : [])
})
