/** A thread that draws one document after another (io/renderer.ts). */
import { parentPort } from 'node:worker_threads'
import { makePdf } from './pdf.ts'
import type { Rendered, RenderJob } from './renderer.ts'

const pdf = makePdf()

parentPort?.on('message', async ({ frozen, extras }: RenderJob) => {
  let answer: Rendered
  try {
    // a copy of its own, whose bytes can be handed over
    answer = { bytes: new Uint8Array(await pdf.render(frozen, extras)) }
  } catch (error) {
    answer = { fault: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(answer, 'bytes' in answer ? [answer.bytes.buffer as ArrayBuffer] : [])
})
