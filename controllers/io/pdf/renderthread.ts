/** A thread that draws one document after another (io/renderer.ts). */
import { serveThread } from '../../base/threads/serve.ts'
import { makePdf } from './pdf.ts'
import type { RenderJob } from './renderer.ts'

const pdf = makePdf()

serveThread(
  // a copy of its own, whose bytes can be handed over
  async ({ frozen, extras }: RenderJob) => new Uint8Array(await pdf.render(frozen, extras)),
  ({ buffer }) => [buffer],
)
