import { setImmediate as turn } from 'node:timers/promises'
import { makePdf } from '../../../controllers/io/pdf/pdf.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'

/** Our side of `hack/bench pdf`: a process that draws what it is sent, under the heap of a thread of the renderer, and nothing else. */

/** What a round answers: CPU of one document, and the memory of the process after it. */
export type Round = { cpuMs: number; bytes: number; rssMb: number }

const { render } = makePdf()

process.on('message', async (frozen: Frozen[]) => {
  const start = process.cpuUsage()
  let bytes = 0
  for (const one of frozen) {
    bytes = (await render(one)).length
    // each document of a thread is a message of its own; within one turn nothing that was drawn can be freed
    await turn()
  }
  const { user, system } = process.cpuUsage(start)
  const cpuMs = (user + system) / 1000 / frozen.length
  process.send?.({ cpuMs, bytes, rssMb: process.memoryUsage.rss() / 1e6 } satisfies Round)
})
