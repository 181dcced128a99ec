import { makePdf } from '../../controllers/io/pdf.ts'
import type { Frozen } from '../../crds/invoice/frozen.ts'

/** Our side of `hack/bench pdf`: a process that draws what it is sent, as a thread of the renderer does, and nothing else. */

/** What a round answers: CPU of one document, and the memory of the process after it. */
export type Round = { cpuMs: number; bytes: number; rssMb: number }

const { render } = makePdf()

process.on('message', async (frozen: Frozen[]) => {
  const start = process.cpuUsage()
  let bytes = 0
  for (const one of frozen) bytes = (await render(one)).length
  const { user, system } = process.cpuUsage(start)
  const cpuMs = (user + system) / 1000 / frozen.length
  process.send?.({ cpuMs, bytes, rssMb: process.memoryUsage.rss() / 1e6 } satisfies Round)
})
